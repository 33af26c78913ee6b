import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime

/// Does to the devices of a fleet what other processes ask for.
struct FleetHands: Sendable {
  /// How long a device is without power when its power is cycled.
  private static let pause = TimeAmount.seconds(1)

  /// The most movements of a switch, and the longest time between two of them in milliseconds.
  private static let longestSequence = 1000, longestPause: Int64 = 86_400_000

  private let board: StatusBoard
  private let devices: [NIOLoopBound<VirtualDevice>]

  init(_ board: StatusBoard, _ devices: [NIOLoopBound<VirtualDevice>]) { (self.board, self.devices) = (board, devices) }

  /// Answers a request; called on any loop.
  @Sendable func answer(_ request: ControlRequest) -> EventLoopFuture<ControlReply> {
    if case .status = request { return board.status().map { ControlReply(fleet: $0) } }
    guard let path = request.device else { return done(.init(.badRequest, "no device is named")) }
    let found = devices.map { device in
      device.eventLoop.submit { device.value.place(named: path) == nil ? nil : device }
    }
    return EventLoopFuture.whenAllSucceed(found, on: board.eventLoop).flatMap { found in
      guard let device = found.lazy.compactMap({ $0 }).first else {
        return done(.init(.notFound, "there is no device “\(path)” here"))
      }
      return device.eventLoop.flatSubmit { carryOut(request, path, on: device) }
    }
  }

  private func done(_ error: ControlError? = nil) -> EventLoopFuture<ControlReply> {
    board.eventLoop.makeSucceededFuture(ControlReply(error: error))
  }

  /// On the device's loop.
  private func carryOut(
    _ request: ControlRequest, _ path: String, on bound: NIOLoopBound<VirtualDevice>
  ) -> EventLoopFuture<ControlReply> {
    let device = bound.value
    guard let place = device.place(named: path) else { return done(.init(.notFound, "there is no device “\(path)”")) }
    do throws(ControlError) {
      switch request {
      case .status: break
      case .power(_, let power):
        try switchPower(power != .off && power != .cycle, of: device, place)
        guard power == .cycle else { break }
        return bound.eventLoop.scheduleTask(in: Self.pause) {
          do throws(ControlError) {
            try switchPower(true, of: bound.value, place)
            return ControlReply()
          } catch {
            return ControlReply(error: error)
          }
        }.futureResult
      case .set(_, let endpoint, let cluster, let attribute, let value):
        try device.set(ClusterID(cluster), AttributeID(attribute), value, on: place.endpoints(endpoint))
      case .get(_, let endpoint, let cluster, let attribute):
        let found = try device.find(ClusterID(cluster), AttributeID(attribute), on: place.endpoints(endpoint))
        return board.eventLoop.makeSucceededFuture(ControlReply(value: found.value))
      case .move(_, let button, let moves):
        guard moves.count <= Self.longestSequence, moves.allSatisfy({ (0...Self.longestPause).contains($0.after) })
        else {
          throw ControlError(.badRequest, "that is more than a hand would do in a day")
        }
        guard place.application.indices.contains(button) else {
          throw ControlError(.notFound, "“\(path)” has no button \(button + 1)")
        }
        try device.move(
          moves.map { SwitchMove(to: $0.position, after: .milliseconds($0.after)) }, on: place.application[button])
      }
      return done()
    } catch {
      return done(error)
    }
  }

  private func switchPower(_ isOn: Bool, of device: VirtualDevice, _ place: VirtualDevice.Place) throws(ControlError) {
    if place.bridged != nil {
      try device.withEngine { (engine, now) throws(StatusError) in
        try engine.power(isOn, bridgedOn: place.node, at: now)
      }
    } else if isOn {
      do { try device.restorePower() } catch { throw ControlError(.failed, "it does not start: \(error)") }
    } else {
      device.cutPower()
    }
  }
}

extension VirtualDevice {
  /// Does something with the engine; what the engine says against it becomes the answer.
  fileprivate func withEngine(
    _ body: (inout DeviceEngine, Instant) throws(StatusError) -> Void
  ) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    do throws(StatusError) {
      try host.perform { (engine, now) throws(StatusError) in try body(&engine, now) }
    } catch {
      switch error.status.code {
      case .unsupportedCluster: throw ControlError(.notFound, "it has no such cluster there")
      case .unsupportedAttribute: throw ControlError(.notFound, "it has no such attribute there, or it can't be set")
      case .constraintError: throw ControlError(.refused, "the value is out of range")
      case .invalidDataType: throw ControlError(.refused, "the value is of another type")
      default: throw ControlError(.refused, "\(error.status)")
      }
    }
  }

  /// Moves a switch.
  fileprivate func move(_ moves: [SwitchMove], on endpoint: EndpointID) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    guard host.perform({ engine, _ in engine.value(Switch.currentPosition, on: endpoint) }) != nil else {
      // A light switch has no position to tell: it has what it is bound to switched over.
      if host.perform({ engine, _ in engine.value(Binding.binding, on: endpoint) }) != nil {
        let count = host.perform { engine, now in engine.control(OnOff.toggle, NoFields(), from: endpoint, at: now) }
        guard count > 0 else { throw ControlError(.refused, "it is not bound to anything that it could switch") }
        return
      }
      throw ControlError(.refused, "it has no buttons that could be pressed")
    }
    try withEngine { (engine, now) throws(StatusError) in try engine.operate(switchOn: endpoint, moves, at: now) }
  }

  /// The first of the endpoints that has an attribute, and its value.
  fileprivate func find(
    _ cluster: ClusterID, _ attribute: AttributeID, on endpoints: [EndpointID]
  ) throws(ControlError) -> (endpoint: EndpointID, value: [UInt8]) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    for endpoint in endpoints {
      let value = host.perform { engine, _ in engine.value(of: ConcreteAttributePath(endpoint, cluster, attribute)) }
      if let value { return (endpoint, value) }
    }
    throw ControlError(.notFound, "it has no such attribute")
  }

  /// Changes an attribute on the first of the endpoints that has it.
  fileprivate func set(
    _ cluster: ClusterID, _ attribute: AttributeID, _ value: [UInt8], on endpoints: [EndpointID]
  ) throws(ControlError) {
    let endpoint = try find(cluster, attribute, on: endpoints).endpoint
    try withEngine { (engine, now) throws(StatusError) in
      if cluster == Switch.id, attribute == Switch.currentPosition.id, let position = try? UInt8(tlv: value) {
        // A switch has no more positions than it has.
        try engine.operate(switchOn: endpoint, [SwitchMove(to: position)], at: now)
      } else {
        try engine.act(set: ConcreteAttributePath(endpoint, cluster, attribute), encoded: value, at: now)
      }
    }
  }
}

extension VirtualDevice.Place {
  /// The endpoints to look on: the one that was said, else that of the device and those of what it does.
  fileprivate func endpoints(_ said: UInt16?) -> [EndpointID] {
    said.map { [EndpointID($0)] } ?? ([node] + application)
  }
}
