"""gunicorn's own lines in our form. It speaks before Django is there: only the environment is asked."""

from typing import Any

from gunicorn import glogging

from dashboard.ops import environment
from dashboard.ops.logs import FORMATTERS


class Logger(glogging.Logger):
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        form = environment.choice("LOG_FORMAT", "LINE", ("LINE", "JSON")).lower()
        for handler in self.error_log.handlers:
            handler.setFormatter(FORMATTERS[form]())
