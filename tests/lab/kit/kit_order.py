"""Order: a variable that another test sets."""

mode = {"is_fast": False}


def test_first():
    assert mode is not None


def test_fast():
    mode["is_fast"] = True
    assert mode["is_fast"]


def test_second():
    assert len(mode) == 1


def test_usual():
    assert not mode["is_fast"]


def test_usual_stable():
    assert mode["is_fast"] in (True, False)
