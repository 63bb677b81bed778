"""Two doctests.

>>> 1 + 1
2
"""


def half(number):
    """Half of a number.

    >>> half(4)
    3.0
    """
    return number / 2
