/// Polls a condition until it is true, for at least two minutes.
///
/// The limit is a number of polls, so that it grows with the load of the machine.
/// - Returns: whether the condition became true.
func eventually(_ isTrue: () async throws -> Bool) async rethrows -> Bool {
  for attempt in 1...2500 {
    if try await isTrue() { return true }
    // At first in short intervals, because most conditions become true soon.
    try? await Task.sleep(for: .milliseconds(min(2 * attempt, 50)))
  }
  return try await isTrue()
}

/// Repeats commands until a condition is true, for at least two minutes. Each attempt starts processes, so the pauses
/// grow to half a second.
/// - Returns: whether the condition became true.
func eventuallyByCommands(_ isTrue: () async throws -> Bool) async rethrows -> Bool {
  for attempt in 0..<250 {
    if try await isTrue() { return true }
    try? await Task.sleep(for: .milliseconds(min(20 << min(attempt, 5), 500)))
  }
  return try await isTrue()
}
