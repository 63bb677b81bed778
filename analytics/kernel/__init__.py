"""Statistics on arrays: numpy and scipy only.

Modules say `import scipy` and name its parts in full (`scipy.stats.hypergeom`): scipy loads a part when it is first
named. `scipy.stats` alone takes a second and 70 MB, and most processes never analyse anything."""
