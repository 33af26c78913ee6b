internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import Runtime
internal import VirtualDevices

extension SimulatedHome {
  /// Presses the button on each light of a device; without effect while it has no power.
  public func pressByHand(_ name: String) {
    guard let device = try? find(name).device else { return }
    for place in [device.definition] + device.definition.bridged {
      guard let host = device.host, let place = device.place(named: place.path) else { continue }
      for endpoint in place.application {
        host.perform { engine, now in
          guard engine.value(OnOff.onOff, on: endpoint) != nil else { return }
          // An error of the light doesn't concern the button.
          _ = try? engine.press(OnOff.toggle, NoFields(), on: endpoint, at: now)
        }
      }
    }
  }

  /// Switches the power of all devices behind a bridge.
  func power(_ isOn: Bool, bridgedOn name: String) {
    guard let device = try? find(name).device else { return }
    for bridged in device.definition.bridged {
      guard let place = device.place(named: bridged.path) else { continue }
      try? device.switchPower(isOn, at: place)
    }
  }
}
