"""The one error of fetching and checking data: what is at fault, what is wrong with it, what to do."""


class Fault(Exception):
    """Ends one file's fetching; with `stop`, the whole command (what hinders this file hinders the others)."""

    def __init__(self, what, why, remedy="", stop=False, code=1):
        super().__init__(f"{what}: {why}" + (f" ({remedy})" if remedy else ""))
        self.stop, self.code = stop, code


def usage(what, why, remedy=""):
    """A command line that asks for what does not exist or does not fit."""
    return Fault(what, why, remedy, stop=True, code=2)
