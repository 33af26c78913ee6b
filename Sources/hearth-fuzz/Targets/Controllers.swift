import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol

extension FuzzTarget {
  /// Answers of a device to requests of the controller that commissioned it.
  ///
  /// The first byte of the input selects the request. A sequence of messages follows, as for the target `device`;
  /// with the top bit of the opcode set, a message opens an exchange of its own, as reports of a subscription do.
  static let controller = FuzzTarget(name: "controller", seeds: { ControllerStage.seeds }) { input in
    let scenes = ControllerStage.shared
    guard let first = input.first, !scenes.isEmpty else { return }
    var scene = scenes[Int(first) % scenes.count]
    var now = Parties.now
    for piece in Script(Array(input.dropFirst())).pieces.prefix(12) {
      now += .seconds(Int64(piece.delay % 64))
      guard let opcode = piece.bytes.first else { continue }
      var exchange: ExchangeID? = scene.exchange
      if opcode & 0x80 != 0 { exchange = scene.device.openExchange(on: scene.exchange.session, at: now) }
      guard let exchange else { break }
      let payload = Array(piece.bytes.dropFirst())
      scene.device.send(opcode & 0x7F, payload: payload, on: exchange, then: .keepOpen, at: now)
      scene.carry(now)
    }
    for _ in 0..<12 {
      now += .seconds(10)
      scene.controller.advance(to: now)
      scene.carry(now)
    }
  }
}

/// A controller with a pending request, and in place of the device a messaging core with its fabric, which answers as
/// the input says.
struct ControllerStage {
  var controller: ControllerEngine
  var device: NodeCore
  var exchange: ExchangeID

  /// Not protected: fuzzing is single-threaded.
  nonisolated(unsafe) static let shared: [ControllerStage] = {
    do { return try make() } catch { FuzzTarget.finding("the controller could not be created: \(error)") }
  }()

  mutating func carry(_ now: Instant) {
    for _ in 0..<300 {
      var isQuiet = true
      while let effect = controller.nextEffect() {
        isQuiet = false
        if case .send(let bytes, _) = effect { device.receive(bytes, from: Parties.clientAddress, at: now) }
      }
      while let output = device.nextOutput() {
        isQuiet = false
        if case .send(let bytes, _) = output {
          controller.handle(.datagram(bytes, from: Parties.serverAddress), at: now)
        }
      }
      if isQuiet { return }
    }
    FuzzTarget.finding("a controller and a device exchange messages endlessly")
  }

  /// A controller and a light that it has commissioned.
  struct Paired {
    let configuration: ControllerConfiguration
    /// The stored state of the controller.
    let state: StoredState
    let node: NodeID
    let light: DeviceEngine
    /// The light's fabric.
    let fabric: Fabric
  }

  static func pair() throws -> Paired {
    let parties = try Parties()
    let configuration = ControllerConfiguration(
      notBefore: .seconds(800_000_000), attestation: try TestAttestation.verifier(),
      signatures: DeterministicSignatures())
    var controller = try ControllerEngine(configuration, state: [:], random: SeededRandomSource(seed: 21))
    var light = DeviceEngine(
      try DeviceStage.configuration(parties.pase), endpoints: [DeviceStage.light], random: SeededRandomSource(seed: 22),
      signatures: DeterministicSignatures(), at: Parties.now)
    let node = controller.nextNodeID
    _ = controller.commission(
      CommissioningRequest(passcode: Parties.passcode, target: .addresses([Parties.serverAddress])), at: Parties.now)
    var states: (controller: StoredState, light: StoredState) = ([:], [:])
    var isBusy = true
    while isBusy {
      isBusy = false
      while let effect = controller.nextEffect() {
        isBusy = true
        switch effect {
        case .send(let bytes, _): light.handle(.datagram(bytes, from: Parties.clientAddress), at: Parties.now)
        case .store(let changes): for change in changes { states.controller[change.key] = change.value }
        default: break
        }
      }
      while let effect = light.nextEffect() {
        isBusy = true
        switch effect {
        case .send(let bytes, _): controller.handle(.datagram(bytes, from: Parties.serverAddress), at: Parties.now)
        case .store(let changes): for change in changes { states.light[change.key] = change.value }
        default: break
        }
      }
    }
    guard let tlv = states.light["fabric/1"] else { throw StatusError(.failure) }
    return Paired(
      configuration: configuration, state: states.controller, node: node, light: light, fabric: try Fabric(tlv: tlv))
  }

  private static func make() throws -> [ControllerStage] {
    let paired = try pair()
    let (configuration, node, fabric) = (paired.configuration, paired.node, paired.fabric)
    let onOff = AttributePath(ConcreteAttributePath(1, 0x0006, 0))
    let requests: [(inout ControllerEngine) -> Void] = [
      { _ = $0.read(node, [AttributePath()], events: [EventPath()], at: Parties.now) },
      { _ = $0.invoke(node, [CommandData(OnOff.toggle.path(on: 1))], at: Parties.now) },
      {
        _ = $0.write(
          node, [AttributeWrite(ConcreteAttributePath(1, 0x0006, 0x4001), value: [0x04, 5])], at: Parties.now)
      },
      {
        _ = $0.subscribe(
          node, SubscriptionRequest(paths: [onOff], minInterval: .zero, maxInterval: .seconds(60)), at: Parties.now)
      },
      { _ = $0.invoke(node, [CommandData(OnOff.toggle.path(on: 1))], timed: .seconds(1), at: Parties.now) },
      { _ = $0.removeNode(node, at: Parties.now) },
    ]
    return try requests.map { request in
      var controller = try ControllerEngine(
        configuration, state: paired.state, random: SeededRandomSource(seed: 23))
      controller.setAddress(Parties.serverAddress, of: node)
      var device = NodeCore(
        random: SeededRandomSource(seed: 24), signatures: DeterministicSignatures(), fabrics: [fabric])
      request(&controller)
      var exchange: ExchangeID?
      var isBusy = true
      while isBusy {
        isBusy = false
        while let effect = controller.nextEffect() {
          isBusy = true
          if case .send(let bytes, _) = effect { device.receive(bytes, from: Parties.clientAddress, at: Parties.now) }
        }
        while let output = device.nextOutput() {
          isBusy = true
          switch output {
          case .send(let bytes, _): controller.handle(.datagram(bytes, from: Parties.serverAddress), at: Parties.now)
          case .message(let message): exchange = message.exchange
          default: break
          }
        }
      }
      guard let exchange else { throw StatusError(.failure) }
      return ControllerStage(controller: controller, device: device, exchange: exchange)
    }
  }

  static var seeds: [[UInt8]] {
    let opcodes: [UInt8: UInt8] = [0: 1, 3: 4, 4: 5, 6: 7, 8: 9]
    let answers = Samples.interactions().compactMap { sample in
      opcodes[sample[0]].map { [$0] + sample.dropFirst() }
    }
    var result: [[UInt8]] = []
    for (question, rows) in [(0, [2]), (1, [4]), (2, [3]), (3, [2, 1]), (4, [0, 4]), (5, [2])] {
      result.append(
        [UInt8(question)] + Script.encode(rows.compactMap { answers.indices.contains($0) ? answers[$0] : nil }))
    }
    if answers.count > 2 {
      result.append([3] + Script.encode([answers[2], answers[1], [0x85] + answers[2].dropFirst()]))
    }
    return result
  }
}
