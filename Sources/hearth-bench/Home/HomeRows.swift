import HearthHome
import MatterProtocol
import Runtime

/// Measures a home of 1,000 devices: its restart, its memory and the delivery of changes to observers.
func homeRows(_ report: inout Report, _ options: Options) throws {
  let stored = try StoredDevices()
  defer { stored.remove() }
  var load = Measured(isEach: true)
  for _ in 0..<max(3, options.scaled(10)) {
    let start = HostClock.now()
    let database = try HomeDatabase.open(stored.state.database)
    keep(HomeReducer(try database.load().state))
    load.times.append(Double((HostClock.now() - start).nanoseconds))
    try database.close()
  }
  report.add("home: 1,000 devices with 20 attributes each, read from disk", load)

  var runs: [Restart.Result] = []
  for _ in 0..<max(3, options.scaled(10)) { runs.append(try Restart.run(stored.state)) }
  report.add("home: the same, opened and listed", Measured(times: runs.map(\.opening)))
  let whole = Measured(times: runs.map(\.whole))
  report.add(
    "home: restart of a process until all show their last state", whole,
    target: .init(text: "500 ms", isMet: whole.median <= 500_000_000))
  let memory = median(runs.map(\.memory))
  report.add(
    Row(
      name: "home: memory that it takes", bytes: memory,
      target: .init(text: "60 MiB", isMet: memory <= 60 * 1_048_576)))
  report.add(Row(name: "home: memory of the process, code included", bytes: median(runs.map(\.resident))))
  try rejoinRows(&report, devices: options.isQuick ? 100 : 1_000, restarts: 5)

  let count = options.scaled(1_000)
  report.add("100 closures called (a floor)", FanOut.closures(options.scaled(500)))
  let (floor, fanOut) = try waitFor {
    let home = try await Home(StoredDevices.options(stored.state))
    // Warm-up.
    _ = await FanOut.streams(100)
    let floor = await FanOut.streams(count)
    _ = try await FanOut.home(home, 50)
    let fanOut = try await FanOut.home(home, count)
    await home.close()
    return (floor, fanOut)
  }
  report.add("100 AsyncStreams handed a value (the floor)", floor.handed, ratio: 1)
  report.add(
    "home: an attribute's change handed to 100 observers", fanOut.handed,
    ratio: fanOut.handed.median / floor.handed.median,
    target: .init(text: "100 µs", isMet: fanOut.handed.median <= 100_000))
  report.add("100 AsyncStreams: all have received it (the floor)", floor.received, ratio: 1)
  report.add(
    "home: all 100 observers have received it", fanOut.received, ratio: fanOut.received.median / floor.received.median)
  report.notes.append(
    """
    A change is handed to an observer when it is in the observer's queue: from the report that brings it, through the
    reducer, with what the database's writer is given. Receiving it takes a task switch for each observer besides.
    """)
}
