import CBench
import MatterProtocol
import Runtime

/// The measurements of one operation.
struct Measured {
  /// The time of each repetition in nanoseconds, or of each batch divided by its size.
  var times: [Double] = []
  /// Whether each repetition was timed separately, so that percentiles are meaningful.
  var isEach = false
  /// The number of allocations per repetition, if counted.
  var allocations: Double?

  /// The median in nanoseconds.
  var median: Double { percentile(0.5) }
  /// The 99th percentile in nanoseconds.
  var p99: Double? { isEach && times.count >= 100 ? percentile(0.99) : nil }

  private func percentile(_ part: Double) -> Double {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
  }
}

func median(_ values: [Double]) -> Double { Measured(times: values).median }

/// Times an operation in batches, for operations too short for the clock.
/// - Parameter body: performs the operation once.
func measureBatches(_ batches: Int, of size: Int, _ body: () throws -> Void) rethrows -> Measured {
  var result = Measured()
  for _ in 0..<size { try body() }
  result.times.reserveCapacity(batches)
  let allocated = hearth_thread_allocations()
  for _ in 0..<batches {
    let start = HostClock.now()
    for _ in 0..<size { try body() }
    result.times.append(Double((HostClock.now() - start).nanoseconds) / Double(size))
  }
  if hearth_counts_allocations() != 0 {
    result.allocations = Double(hearth_thread_allocations() - allocated) / Double(batches * size)
  }
  return result
}

/// Times each of `count` repetitions.
func measureEach(_ count: Int, _ body: () throws -> Void) rethrows -> Measured {
  var result = Measured(isEach: true)
  result.times.reserveCapacity(count)
  let allocated = hearth_thread_allocations()
  for _ in 0..<count {
    let start = HostClock.now()
    try body()
    result.times.append(Double((HostClock.now() - start).nanoseconds))
  }
  if hearth_counts_allocations() != 0 {
    result.allocations = Double(hearth_thread_allocations() - allocated) / Double(count)
  }
  return result
}

/// Keeps the optimizer from removing the computation of a value.
@inline(never) @_optimize(none) func keep<Value>(_ value: borrowing Value) {}
