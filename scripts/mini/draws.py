"""Random draws that are the same for ever: the bundled data is a function of its seed alone."""

MASK = (1 << 64) - 1


class Random:
    """SplitMix64 with the few draws that are needed; Python's own module does not promise the same draws for ever."""

    def __init__(self, seed):
        self.state = seed & MASK

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        x = self.state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        return (x ^ (x >> 31)) % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def pick(self, values):
        return values[self.below(len(values))]

    def sample(self, values, count):
        rest = list(values)
        return [rest.pop(self.below(len(rest))) for _ in range(count)]

    def shuffled(self, values):
        return self.sample(values, len(values))
