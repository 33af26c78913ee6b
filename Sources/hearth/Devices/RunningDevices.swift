import HearthHome
import MatterModel
import VirtualDevices

/// The running virtual devices of a state directory, looked up by name.
struct RunningDevices {
  let fleets: [FleetStatus]
  private let directory: StateDirectory

  /// - Throws: `notRunning` if no devices are running.
  init(_ options: GlobalOptions) throws {
    directory = try options.stateDirectory
    fleets = FleetStatus.running(in: directory.run)
    guard !fleets.isEmpty else {
      throw HomeError(
        .notRunning,
        "no virtual devices are running with the state in \(directory.root); start some with `hearth run FILE`")
    }
  }

  /// A running device, or one behind a running bridge.
  struct Entry {
    var process: Int32
    var name: String
    /// `room/name`.
    var path: String
    var buttons: [String]
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
            process: fleet.process, name: device.name, path: device.path, buttons: device.buttons, node: device,
            discoveryDrops: fleet.discoveryDrops ?? [:])
        ]
          + device.bridged.map {
            Entry(
              process: fleet.process, name: $0.name, path: $0.path, buttons: $0.buttons, node: device,
              discoveryDrops: fleet.discoveryDrops ?? [:])
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
    throw HomeError(
      .notFound, "no device “\(text)” is running",
      candidates: NearestName.suggestions(for: text, in: entries.map(\.name) + entries.map(\.path)))
  }

  @discardableResult
  func send(_ request: ControlRequest, to entry: Entry) throws(HomeError) -> ControlReply {
    do throws(ControlError) {
      return try ControlClient.send(request, toProcess: entry.process, in: directory.run)
    } catch {
      let code: HomeError.Code =
        switch error.code {
        case .notRunning: .notRunning
        case .noAnswer: .timedOut
        case .badRequest: .badArguments
        case .notFound: .notFound
        case .refused, .noPower: .refused
        case .failed: .internalError
        }
      throw HomeError(code, error.message, device: entry.path, cause: error)
    }
  }
}
