"""Lists are paged by a cursor: newest first, stable while new ones arrive."""

from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

from dashboard.api.errors import ApiError

_LARGEST_ID = 2**63 - 1


class NewestFirst(CursorPagination):
    ordering = "-id"
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500

    def get_page_size(self, request: Request) -> int:
        """The page size asked for; an invalid number is an error."""
        size = request.query_params.get(self.page_size_query_param)
        if size is None:
            return self.page_size
        if not (size.isascii() and size.isdecimal() and 1 <= int(size[:9]) <= self.max_page_size):
            raise ApiError(422, "invalid", f"page_size is a whole number from 1 to {self.max_page_size}.")
        return int(size)

    def decode_cursor(self, request: Request) -> Cursor | None:
        """DRF hands the position to the database as it came; ours are ids, and anything else is no page of ours."""
        cursor = super().decode_cursor(request)
        if cursor is None or cursor.position is None:
            return cursor
        return cursor._replace(position=str(_id_from(cursor.position)))


def _id_from(position: str) -> int:
    try:
        number = int(position)
    except ValueError as error:
        raise NotFound from error
    if not 0 <= number <= _LARGEST_ID:
        raise NotFound
    return number
