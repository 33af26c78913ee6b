import CBench
import MatterProtocol
import Runtime

/// Repetitions of one thing.
struct Measured {
  /// Nanoseconds of each, or of each batch divided by its size.
  var times: [Double] = []
  /// Whether each repetition was timed by itself, so that the slowest mean something.
  var isEach = false
  /// For each repetition, where they were counted.
  var allocations: Double?

  /// In nanoseconds.
  var median: Double { percentile(0.5) }
  /// In nanoseconds.
  var p99: Double? { isEach && times.count >= 100 ? percentile(0.99) : nil }

  private func percentile(_ part: Double) -> Double {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
  }
}

func median(_ values: [Double]) -> Double { Measured(times: values).median }

/// Times something too short for the clock, in batches.
/// - Parameter body: does it once.
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

/// Keeps the optimiser from leaving out what made a value.
@inline(never) @_optimize(none) func keep<Value>(_ value: borrowing Value) {}
