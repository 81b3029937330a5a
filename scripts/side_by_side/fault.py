"""The one error of measuring side by side: what is at fault, what is wrong with it, what to do."""


class Fault(Exception):
    def __init__(self, what, why, remedy=""):
        super().__init__(f"{what}: {why}" + (f" ({remedy})" if remedy else ""))
