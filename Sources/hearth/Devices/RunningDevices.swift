import ArgumentParser
import HearthHome
import MatterModel
import VirtualDevices

/// Options of the commands that access running virtual devices.
struct SimOptions: ParsableArguments {
  @OptionGroup var global: GlobalOptions
  @OptionGroup var hub: HubOptions

  var output: Output { global.output }

  /// Runs the body with the running devices of the state directory or, if there are none, of the hub that it has joined.
  /// With --hub, the devices are those of that hub.
  /// - Throws: `notRunning` if no devices are running.
  func withDevices<R>(_ body: (RunningDevices) async throws -> R) async throws -> R {
    let state = try global.stateDirectory
    let local = LocalSimulation(directory: state.run)
    let fleets = hub.hubs.isEmpty ? FleetStatus.running(in: state.run) : []
    if !fleets.isEmpty {
      return try await body(RunningDevices(fleets: fleets) { request, process in try local.send(request, to: process) })
    }
    guard let client = try hub.client(global) else {
      throw HomeError(
        .notRunning, "no virtual devices are running with the state in \(state.root); start some with `hearth run FILE`"
      )
    }
    return try await output.reportingWaits {
      try await Home(through: client).beforeClosing { home in
        let send: RunningDevices.Send = { request, process in
          try LocalSimulation.decode(await home.simulate(try LocalSimulation.encode(request), on: process))
        }
        var fleets: [FleetStatus] = []
        for process in Set(try await home.simulatedDevices.map(\.process)).sorted() {
          if let fleet = try await send(.status, process).fleet { fleets.append(fleet) }
        }
        guard !fleets.isEmpty else {
          throw HomeError(.notRunning, "no virtual devices are running with the state of the hub")
        }
        return try await body(RunningDevices(fleets: fleets, send: send))
      }
    }
  }
}

/// Running virtual devices, looked up by name.
struct RunningDevices {
  /// Sends a request to a process.
  typealias Send = (ControlRequest, Int32) async throws -> ControlReply

  let fleets: [FleetStatus]
  private let send: Send

  init(fleets: [FleetStatus], send: @escaping Send) { (self.fleets, self.send) = (fleets, send) }

  /// A running device, or one behind a running bridge.
  struct Entry {
    var process: Int32
    var name: String
    /// `room/name`.
    var path: String
    var buttons: [String]
    /// Whether it has a switch with positions.
    var hasPosition: Bool
    /// The node of the device or of its bridge.
    var node: VirtualDevices.DeviceStatus
    /// DNS-SD messages that the process dropped, by reason.
    var discoveryDrops: [String: Int]
  }

  private var entries: [Entry] {
    fleets.flatMap { fleet in
      fleet.devices.flatMap { device in
        [
          Entry(
            process: fleet.process, name: device.name, path: device.path, buttons: device.buttons,
            hasPosition: device.position != nil, node: device, discoveryDrops: fleet.discoveryDrops ?? [:])
        ]
          + device.bridged.map {
            Entry(
              process: fleet.process, name: $0.name, path: $0.path, buttons: $0.buttons,
              hasPosition: $0.position != nil, node: device, discoveryDrops: fleet.discoveryDrops ?? [:])
          }
      }
    }
  }

  /// Returns the device for `room/name`, a unique name, or its beginning, ignoring case.
  /// - Throws: `notFound` with similar names, `ambiguousTarget` with all matches.
  func resolve(_ text: String) throws(HomeError) -> Entry {
    let wanted = text.lowercased()
    let entries = self.entries
    let steps: [(Entry) -> Bool] = [
      { $0.path.lowercased() == wanted }, { $0.name.lowercased() == wanted },
      { $0.path.lowercased().hasPrefix(wanted) || $0.name.lowercased().hasPrefix(wanted) },
    ]
    for matches in steps {
      let found = entries.filter(matches)
      if found.count == 1 { return found[0] }
      guard found.isEmpty || wanted.isEmpty else {
        throw HomeError(
          .ambiguousTarget, "“\(text)” matches \(found.count) running devices; name one of them",
          candidates: found.map(\.path))
      }
    }
    let names = entries.map(\.name)
    let paths = entries.map(\.path).filter { !names.contains($0) }
    throw HomeError.unknown("no device “\(text)” is running", text, in: names + paths)
  }

  func isDevice(_ text: String) -> Bool { (try? resolve(text)) != nil }

  @discardableResult
  func send(_ request: ControlRequest, to entry: Entry) async throws -> ControlReply {
    do { return try await send(request, entry.process) } catch {
      var error = HomeError(error)
      error.device = error.device ?? entry.path
      throw error
    }
  }
}
