#include "bench/rates.h"

namespace fullband {

Rates RatesOf(const Figure& figure, const MachineFigures& machine) {
  const Spread seconds = SpreadOf(figure.seconds);
  Rates rates;
  rates.tokens = {figure.tokens / seconds.median, figure.tokens / seconds.most,
                  figure.tokens / seconds.least};
  rates.flops = figure.work.flops / seconds.median;
  rates.bytes = figure.work.bytes / seconds.median;
  if (machine.bounds && figure.work.flops > 0) {
    rates.roofline_share = rates.flops / RooflineFlops(figure.work, machine.bounds->PeakOf(machine.target),
                                                       machine.bounds->read_bandwidth);
  }
  return rates;
}

}  // namespace fullband
