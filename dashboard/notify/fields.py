"""What a person or a program said of a channel or a tracker, and cannot be."""


class BadField(Exception):
    """Which field, and a sentence that says what is wrong with it."""

    def __init__(self, field: str, sentence: str) -> None:
        self.field, self.sentence = field, sentence
        super().__init__(sentence)
