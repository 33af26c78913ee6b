import MatterClusters
import MatterModel
import MatterProtocol

// The test events of a charging station. Their codes are those of the Matter SDK.
extension EvseServer {
  /// The installation before a test: the capacity of the circuit and the limit of the user, in milliamperes.
  private struct Installation: Sendable {
    let circuit: Int64
    let user: Int64
  }

  private static let testCurrent: Int64 = 32_000
  private static let testCapacity: Int64 = 70_000_000

  static func tests(_ server: ClusterServer, reportsCharge: Bool) -> ClusterServer {
    let server =
      server
      .onTest(0x00, "installed") { context in
        context[scratch: Installation.self] = Installation(
          circuit: context[Evse.circuitCapacity], user: context[Evse.userMaximumChargeCurrent])
        install(testCurrent, testCurrent, &context)
        disable(&context)
        update(&context)
      }
      .onTest(0x01, "installedEnd") { context in
        guard let before = context[scratch: Installation.self] else { return }
        context[scratch: Installation.self] = nil
        install(before.circuit, before.user, &context)
      }
      .onTest(0x02, "pluggedIn") { plugIn(asking: false, afterTrip: false, &$0) }
      .onTest(0x03, "unplugged") { update(&$0) { $0.unplug(at: $1) } }
      .onTest(0x04, "demand") { context in
        update(&context) { station, now in
          // A full vehicle has no demand.
          if station.battery.percent > 90 { station.set(charge: 50, at: now) }
          station.setReady(true, at: now)
        }
      }
      .onTest(0x05, "demandEnd") { update(&$0) { $0.setReady(false, at: $1) } }
      .onTest(0x06, "timeOfUse") { $0.act(EnergyEvseMode.currentMode, 1) }
      .onTest(0x10, "groundFault") { set(.groundFault, &$0) }
      .onTest(0x11, "overTemperature") { set(.overTemperature, &$0) }
      .onTest(0x12, "faultEnd") { set(.noError, &$0) }
      .onTest(0x20, "diagnosticsEnd") { context throws(StatusError) in
        guard context[scratch: EvseState.self]?.diagnosticsEnd != nil else { throw StatusError(.invalidInState) }
        let now = context.now
        context[scratch: EvseState.self]?.diagnosticsEnd = now
        update(&context)
      }
      .onTest(0x21, "timeOfUseEnd") { $0.act(EnergyEvseMode.currentMode, 0) }
      .onTest(0x50, "rfid") { context in
        context.emit(Evse.rfid, .init(uid: [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99]))
      }
    guard reportsCharge else { return server }
    return
      server
      .onTest(0x30, "chargeLow") { report(20, &$0) }
      .onTest(0x31, "chargeHigh") { report(95, &$0) }
      .onTest(0x32, "chargeUnknown") { context in
        context[scratch: EvseState.self]?.knowsCharge = false
        update(&context)
      }
  }

  private static func install(_ circuit: Int64, _ user: Int64, _ context: inout ServerContext) {
    update(&context) { $0.unplug(at: $1) }
    context[Evse.circuitCapacity] = circuit
    context[Evse.userMaximumChargeCurrent] = user
  }

  /// Lets the vehicle report a charge in percent, of another battery.
  private static func report(_ percent: Double, _ context: inout ServerContext) {
    context[scratch: EvseState.self]?.knowsCharge = true
    update(&context) { $0.replaceBattery(capacity: testCapacity, charge: percent, at: $1) }
  }
}
