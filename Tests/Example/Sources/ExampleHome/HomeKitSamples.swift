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

  // MARK: Edits

  func addHome() async throws {
    let home = try await homeManager.addHome(withName: "My Home")
    try await homeManager.updatePrimaryHome(home)
    home.delegate = self
    let room = try await home.addRoom(withName: "Living Room")
    try await room.updateName("Lounge")
    try await home.updateName("Our Home")
    reload()
  }

  func removeHome() async throws {
    guard let home = homeManager.homes.first(where: { $0.isPrimary }), home.homeHubState != .notAvailable else {
      return
    }
    for room in home.rooms { try await home.removeRoom(room) }
    try await homeManager.removeHome(home)
    reload()
  }

  func assign(_ accessory: HomeDevice, toRoomNamed name: String?) async throws {
    guard let home = homeManager.primaryHome else { return }
    let room = home.rooms.first { $0.name == name } ?? home.roomForEntireHome()
    try await home.assignAccessory(accessory, to: room)
    try await accessory.updateName("\(accessory.manufacturer ?? "Unknown") \(accessory.model ?? "")")
    reload()
  }

  func remove(_ accessory: HomeDevice) async throws { try await homeManager.primaryHome?.removeAccessory(accessory) }

  func details(of accessory: HomeDevice) -> [String] {
    [
      accessory.uniqueIdentifier, accessory.name, accessory.room?.name ?? "", accessory.firmwareVersion ?? "",
      accessory.isBridged ? "bridged" : "not bridged",
    ]
  }

  func identify(_ accessory: HomeDevice) async throws { try await accessory.identify() }

  // MARK: Delegates

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
