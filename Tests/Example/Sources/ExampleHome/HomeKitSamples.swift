import Foundation
import HearthHome
import MatterClusters

/// The accessories of the primary home on a screen, in the form of the samples for HomeKit, without its prefix; see the
/// article “The home model”, “Code for the models”.
@MainActor final class AccessoryList: NSObject, HomeManagerDelegate, HomeRoomDelegate, AccessoryDelegate {
  private let homeManager: HomeManager
  private(set) var names: [String] = []
  private(set) var namesInRooms: [String: [String]] = [:]
  private(set) var isOn: [String: Bool] = [:]
  private(set) var unreachable: Set<String> = []

  init(_ home: Home) {
    homeManager = HomeManager(home)
    super.init()
    homeManager.delegate = self
  }

  private func reload() {
    guard let home = homeManager.primaryHome else { return }
    names = home.accessories.map { $0.name }
    namesInRooms = [:]
    for room in home.rooms { namesInRooms[room.name] = room.accessories.map { $0.name } }
    home.delegate = self
    for accessory in home.accessories { accessory.delegate = self }
  }

  func homeManagerDidUpdateHomes(_ manager: HomeManager) { reload() }

  func home(_ home: Structure, didAdd accessory: HomeDevice) { reload() }
  func home(_ home: Structure, didRemove accessory: HomeDevice) { reload() }
  func home(_ home: Structure, didAdd room: Room) { reload() }
  func home(_ home: Structure, didRemove room: Room) { reload() }
  func home(_ home: Structure, didUpdate room: Room, for accessory: HomeDevice) { reload() }

  func accessoryDidUpdateReachability(_ accessory: HomeDevice) {
    if accessory.isReachable { unreachable.remove(accessory.name) } else { unreachable.insert(accessory.name) }
  }

  func accessory(_ accessory: HomeDevice, didUpdateValueFor attribute: AttributeValue) {
    if let value = attribute[OnOff.onOff] { isOn[accessory.name] = value }
  }
}
