import Logging
import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import MatterTLV
import NIOCore
import Runtime

/// One device of a fleet, running on its event loop. Confined to that loop.
final class VirtualDevice {
  let definition: DeviceDefinition
  let host: EngineHost<DeviceEngine>
  private let port: UInt16
  private let onChange: () -> Void

  /// Opens the device's sockets and state, and starts it. To be called on the loop.
  init(
    _ definition: DeviceDefinition, port wanted: UInt16?, options: FleetOptions, discovery: ServiceDiscovery,
    on loop: any EventLoop, random: any RandomSource, logger: Logger, onChange: @escaping () -> Void
  ) throws {
    self.definition = definition
    self.onChange = onChange
    let sockets = try BoundSockets(options.interfaces, port: wanted)
    port = sockets.addresses.first?.port ?? 0
    let store = try StateStore(directory: options.devicesDirectory + "/" + definition.uniqueID)
    var random = random
    var state = try store.load()
    if options.isFresh {
      try store.commit(state.keys.sorted().map { StoreChange($0, nil) })
      state = [:]
    }
    let identity = try DeviceIdentity(of: definition, in: store, state, random: &random)
    let configuration = try DeviceAssembly.configuration(
      of: definition, identity: identity, port: port, addresses: sockets.addresses.map(\.ip))
    let engine = DeviceEngine(
      configuration, endpoints: DeviceAssembly.endpoints(of: definition), stored: state, random: random,
      at: HostClock.now())
    host = EngineHost(
      engine, transport: UDPTransport(sockets, on: loop), store: store, discovery: discovery, logger: logger)
    host.onEvent = { [weak self] event in self?.received(event) }
    host.onStoreFailure = { error in logger.critical("\(definition.path): \(error)") }
    host.start()
  }

  private func received(_ event: DeviceEvent) {
    switch event {
    case .note: break
    default: onChange()
    }
  }

  var status: DeviceStatus {
    let (facts, values) = host.perform { engine, _ in
      (
        (engine.fabrics, engine.isCommissionable),
        (engine.value(OnOff.onOff, on: 1), engine.value(LevelControl.currentLevel, on: 1))
      )
    }
    let payload = definition.setupPayload
    return DeviceStatus(
      name: definition.name, room: definition.room ?? "", type: definition.kind.title, port: port,
      passcode: definition.passcode, discriminator: definition.discriminator,
      manualCode: (try? payload.manualCode) ?? "", qrCode: (try? payload.qrText) ?? "",
      vendorID: definition.vendorID, productID: definition.productID, serialNumber: definition.serialNumber,
      uniqueID: definition.uniqueID,
      fabrics: facts.0.map {
        .init(
          index: $0.index.rawValue, fabricID: StableHash.hexadecimal($0.fabricID.rawValue, digits: 16),
          nodeID: StableHash.hexadecimal($0.nodeID.rawValue, digits: 16),
          label: $0.label)
      },
      isCommissionable: facts.1, onOff: values.0, level: values.1?.wrapped)
  }

  /// The device is switched off in good order: it says so to whoever is subscribed, and to DNS-SD.
  func stop() {
    host.perform { engine, now in engine.shutDown(at: now) }
    host.stop()
  }
}
