import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// Performs physical actions on the devices of a fleet, on request of other processes.
struct PhysicalActions: Sendable {
  /// The time without power when power is cycled.
  private static let pause = TimeAmount.seconds(1)

  /// The maximum number of moves of a switch, and the maximum time between two of them in milliseconds.
  private static let maximumMoves = 1000, maximumPause: Int64 = 86_400_000

  private let board: StatusBoard
  /// The devices of each event loop.
  private let groups: [[NIOLoopBound<VirtualDevice>]]

  init(_ board: StatusBoard, _ devices: [NIOLoopBound<VirtualDevice>]) {
    self.board = board
    groups = Array(Dictionary(grouping: devices) { ObjectIdentifier($0.eventLoop) }.values)
  }

  /// Calls a function once on each event loop, with its devices: a fleet may have thousands.
  private func onEachLoop<Result: Sendable>(
    _ body: @escaping @Sendable ([NIOLoopBound<VirtualDevice>]) -> Result
  ) -> EventLoopFuture<[Result]> {
    let results = groups.map { devices in (devices.first?.eventLoop ?? board.eventLoop).submit { body(devices) } }
    return EventLoopFuture.whenAllSucceed(results, on: board.eventLoop)
  }

  /// Answers a request. May be called on any loop.
  @Sendable func answer(_ request: ControlRequest) -> EventLoopFuture<ControlReply> {
    if case .status = request { return board.status().map { ControlReply(fleet: $0) } }
    guard let path = request.device else { return done(.init(.badRequest, "no device is named")) }
    let needsPaths = if case .add = request { true } else { false }
    let found = onEachLoop { devices in
      let definitions = needsPaths ? devices.map(\.value.definition) : []
      return (
        devices.first { $0.value.place(named: path) != nil }, definitions.flatMap { [$0.path] + $0.bridged.map(\.path) }
      )
    }
    return found.flatMap { found in
      guard let device = found.lazy.compactMap(\.0).first else {
        return done(.init(.notFound, "there is no device “\(path)” here"))
      }
      let paths = found.flatMap(\.1)
      return device.eventLoop.flatSubmit { perform(request, path, on: device, besides: paths) }
    }
  }

  /// Performs a command of an app pipe. May be called on any loop.
  @Sendable func perform(_ command: PipeCommand) -> EventLoopFuture<ControlReply> {
    let found = onEachLoop { devices in
      devices.filter { device in command.node.map { device.value.place(named: $0) != nil } ?? true }
    }
    return found.flatMap { found in
      let found = found.flatMap { $0 }
      guard let device = found.first, found.count == 1 else {
        let expected = "expected “Node” and the path of a device of this process"
        return done(
          .init(
            .notFound, command.node.map { "there is no device “\($0)”; \(expected)" } ?? "several devices; \(expected)")
        )
      }
      return device.eventLoop.submit {
        do throws(ControlError) {
          try device.value.perform(command)
          return ControlReply()
        } catch {
          return ControlReply(error: error)
        }
      }
    }
  }

  private func done(_ error: ControlError? = nil) -> EventLoopFuture<ControlReply> {
    board.eventLoop.makeSucceededFuture(ControlReply(error: error))
  }

  private static func isPossible(_ fault: DeviceNetwork.Fault) -> Bool {
    guard case .conditions(let conditions) = fault else { return true }
    let times = [conditions.latency, conditions.jitter, conditions.holding]
    return times.allSatisfy { (Duration.zero...Duration.milliseconds(maximumPause)).contains($0) }
      && conditions.bytesPerSecond >= 0 && conditions.maximumDatagramSize >= 0
  }

  /// Performs a request on the device's loop.
  /// - Parameter others: the paths of all devices of the fleet; needed only to add a device.
  private func perform(
    _ request: ControlRequest, _ path: String, on bound: NIOLoopBound<VirtualDevice>, besides others: [String]
  ) -> EventLoopFuture<ControlReply> {
    let device = bound.value
    guard let place = device.place(named: path) else { return done(.init(.notFound, "there is no device “\(path)”")) }
    do throws(ControlError) {
      switch request {
      case .status: break
      case .power(_, let power):
        try device.switchPower(power != .off && power != .cycle, at: place)
        guard power == .cycle else { break }
        return bound.eventLoop.scheduleTask(in: Self.pause) {
          do throws(ControlError) {
            try bound.value.switchPower(true, at: place)
            return ControlReply()
          } catch {
            return ControlReply(error: error)
          }
        }.futureResult
      case .network(_, let fault):
        guard Self.isPossible(fault) else {
          throw ControlError(
            .badRequest,
            "link conditions out of range; expected times from 0 to 24 h, and sizes and rates of at least 0")
        }
        try device.inject(fault, at: place)
      case .add(_, let entry):
        let added = try device.parse(bridged: entry)
        let taken = Set(others.map { $0.lowercased() })
        if let again = added.first(where: { taken.contains($0.path.lowercased()) }) {
          throw ControlError(.refused, "there is a device “\(again.path)” already")
        }
        try device.add(added)
      case .remove:
        guard place.bridged != nil else { throw ControlError(.refused, "it is not behind a bridge") }
        try device.remove(path)
      case .faults(_, let faults): try device.inject(faults, at: place)
      case .set(_, let endpoint, let cluster, let attribute, let value):
        try device.set(ClusterID(cluster), AttributeID(attribute), value, on: place.endpoints(endpoint))
      case .get(_, let endpoint, let cluster, let attribute):
        let found = try device.find(ClusterID(cluster), AttributeID(attribute), on: place.endpoints(endpoint))
        return board.eventLoop.makeSucceededFuture(ControlReply(value: found.value))
      case .trigger(_, let event):
        let events =
          if let event { [try device.cause(event, at: place)] } else { try device.testEvents(at: place) }
        return board.eventLoop.makeSucceededFuture(
          ControlReply(events: events.map { .init(name: $0.name, trigger: $0.trigger) }))
      case .part(_, let endpoint, let name, let state):
        try device.move(part: name, to: state, on: place.endpoints(endpoint))
      case .move(_, let button, let moves):
        guard moves.count <= Self.maximumMoves, moves.allSatisfy({ (0...Self.maximumPause).contains($0.after) })
        else {
          throw ControlError(
            .badRequest,
            "too many moves, or too long a pause; at most \(Self.maximumMoves) moves, with pauses of at most 24 h")
        }
        guard place.application.indices.contains(button) else {
          throw ControlError(.notFound, "“\(path)” has no button \(button.saturatingAdd(1))")
        }
        try device.move(
          moves.map { SwitchMove(to: $0.position, after: .milliseconds($0.after)) }, on: place.application[button])
      }
      return done()
    } catch {
      return done(error)
    }
  }
}
