"""Which network addresses we may connect to: those of the open internet, and what the operator allows. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_CARRIERS = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"), IPv6Network("2002::/16"))
"""NAT64 and 6to4: an IPv4 address of any kind hides inside, and a gateway unpacks it."""


def unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv4-mapped IPv6 address stands for."""
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def is_open(address: Address) -> bool:
    """Whether an address belongs to the open internet."""
    real = unwrapped(address)
    if isinstance(real, IPv6Address) and (real.is_site_local or any(real in network for network in _CARRIERS)):
        return False
    return real.is_global and not (real.is_multicast or real.is_reserved or real.is_unspecified)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator lets us reach besides the open internet."""

    hosts: frozenset[str] = field(default_factory=frozenset)
    networks: tuple[Network, ...] = ()

    @classmethod
    def read(cls, words: Sequence[str]) -> "Allowed":
        """Networks as `10.0.0.0/8`, anything else is a host's name."""
        networks = {word: _network(word) for word in words}
        hosts = frozenset(word.lower().rstrip(".") for word, network in networks.items() if network is None)
        return cls(hosts, tuple(network for network in networks.values() if network is not None))

    def takes(self, host: str, address: Address) -> bool:
        real = unwrapped(address)
        named = host.lower().rstrip(".") in self.hosts
        return named or is_open(address) or any(real in network for network in self.networks)


def _network(word: str) -> Network | None:
    try:
        return ip_network(word, strict=False)
    except ValueError:
        return None


def read_address(text: str) -> Address:
    """An address as the resolver gives it; a zone such as %eth0 is no part of it."""
    return ip_address(text.partition("%")[0])
