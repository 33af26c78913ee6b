import Dispatch
import HearthHome
import MatterClusters

/// The rooms and a light on a screen, in the form of the samples for the Google Home APIs for iOS; see the article “The
/// home model”, “Code for the models”.
@MainActor final class LightControl {
  private(set) var roomNames: [String] = []
  private(set) var isOn: Bool?
  private(set) var hasEnded = false
  private var cancellables: Set<AnyCancellable> = []

  init(home: Home) {
    home.rooms().batched()
      .receive(on: DispatchQueue.main)
      .map { rooms in rooms.map(\.name) }
      .removeDuplicates()
      .sink { [weak self] names in self?.roomNames = names }
      .store(in: &cancellables)
    home.devices().batched()
      .compactMap { devices in devices.first { $0.types.contains(OnOffLightDeviceType.self) } }
      .first()
      .sink { [weak self] light in self?.subscribe(to: light) }
      .store(in: &cancellables)
  }

  private func subscribe(to device: HomeDevice) {
    device.types.subscribe(OnOffLightDeviceType.self)
      .receive(on: DispatchQueue.main)
      .assertNoFailure()
      .sink(
        receiveCompletion: { [weak self] completion in
          if case .finished = completion { self?.hasEnded = true }
        },
        receiveValue: { [weak self] light in
          self?.isOn = light.matterTraits.onOffTrait?.attributes.onOff
        }
      )
      .store(in: &cancellables)
  }
}

enum GoogleSamples {
  typealias OnOffTrait = Matter.OnOffTrait

  static func onlineLights(_ home: Home) async throws -> [HomeDevice] {
    try await home.devices().list().filter {
      $0.types.contains(OnOffLightDeviceType.self) && $0.sourceConnectivity.connectivityState == .online
    }
  }

  static func invert(_ device: HomeDevice) async throws {
    guard let light = device.types.get(OnOffLightDeviceType.self),
      let trait: OnOffTrait = light.matterTraits.onOffTrait
    else { return }
    if trait.attributes.onOff ?? false { try await trait.off() } else { try await trait.on() }
  }

  static func dim(_ device: HomeDevice, to level: UInt8) async throws {
    guard
      let levelControlTrait: Matter.LevelControlTrait = device.types.get(DimmableLightDeviceType.self)?.matterTraits
        .levelControlTrait
    else { return }
    try await levelControlTrait.moveToLevelWithOnOff(
      level: level, transitionTime: nil, optionsMask: [], optionsOverride: [])
  }

  static func arrange(_ device: HomeDevice, in home: Home) async throws -> Room? {
    let structures = try await home.structures().list()
    guard let structure = structures.first(where: { $0.id == device.structureID }) else { return nil }
    let room = try await structure.createRoom(name: "Office")
    try await structure.move(device: device.id, to: room.id)
    return try await room.setName("Study")
  }

  static func removeRoom(of device: HomeDevice, in home: Home) async throws {
    let rooms = try await home.rooms().list()
    guard let structure = try await home.structures().list().first(where: { $0.id == device.structureID }),
      let room = rooms.first(where: { $0.id == device.roomID })
    else { return }
    _ = try await structure.deleteRoom(room)
  }
}
