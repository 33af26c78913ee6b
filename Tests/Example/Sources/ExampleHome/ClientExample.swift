import Foundation
import HearthHome
import MatterClusters

/// Receives the changes of a home as a client. The article “Receiving changes” quotes it, which `ArticleTests` checks.
enum ClientExample {
  final class Screen: HomeManagerDelegate, HomeRoomDelegate, AccessoryDelegate {
    func homeManagerDidUpdateHomes(_ manager: HomeManager) async {
      print("reload", manager.homes.map(\.name))
    }

    func home(_ home: Structure, didAdd accessory: HomeDevice) async { print("added", accessory.name) }
    func home(_ home: Structure, didRemove accessory: HomeDevice) async { print("removed", accessory.name) }
    func home(_ home: Structure, didAdd room: Room) async { print("added the room \(room.name) to \(home.name)") }
    func home(_ home: Structure, didRemove room: Room) async { print("removed the room \(room.name)") }
    func home(_ home: Structure, didUpdate room: Room, for accessory: HomeDevice) async {
      print(room.name, room.accessories.map(\.name))
    }

    func accessoryDidUpdateReachability(_ accessory: HomeDevice) async {
      print(accessory.name, accessory.isReachable ? "online" : "offline")
    }
    func accessory(_ accessory: HomeDevice, didUpdateValueFor attribute: AttributeValue) async {
      if let isOn = attribute[OnOff.onOff] { print(accessory.name, isOn ? "on" : "off") }
    }
  }

  static func delegates(_ home: Home) -> (Screen, HomeManager) {
    let screen = Screen()
    let manager = HomeManager(home, delegate: screen)
    manager.homeDelegate = screen
    manager.accessoryDelegate = screen
    return (screen, manager)
  }

  static func changes(_ manager: HomeManager, _ device: HomeDevice) async throws {
    let hall = try await manager.addRoom("Hall")
    try await manager.move(device.id, to: hall.id)
  }

  static func ownDelegates(_ manager: HomeManager, _ screen: Screen) {
    manager.primaryHome?.delegate = screen
    for accessory in manager.primaryHome?.accessories ?? [] where accessory.room?.name == "Hall" {
      accessory.delegate = screen
    }
  }

  static func background(_ manager: HomeManager) {
    manager.suspend()
    manager.resume()
  }

  actor Reader {
    private let home: Home
    private let filter: SampleFilter
    private(set) var anchor: Anchor?

    init(_ home: Home, _ filter: SampleFilter, after stored: String?) {
      (self.home, self.filter, anchor) = (home, filter, stored.flatMap { Anchor($0) })
    }

    func read() async throws {
      var isComplete = false
      while !isComplete {
        let result = try await home.results(of: AnchoredQuery(.attribute, filter, after: anchor))
        switch result {
        case .samples(let samples, _, let isLast):
          for sample in samples { print(sample.startDate, sample.change, sample.origin ?? "the device") }
          isComplete = isLast
        case .reset(let stored):
          // The log starts after the anchor: reload the home.
          for device in await home.devices(of: stored) { print(device.name) }
        }
        anchor = result.next
      }
    }
  }

  static func query(_ home: Home, _ filter: SampleFilter, _ reader: Reader) async -> ObserverQuery {
    let query = ObserverQuery(.attribute, filter) { _, completion, error in
      guard error == nil else { return }
      Task {
        do {
          try await reader.read()
          completion()
        } catch {
          completion(false)
        }
      }
    }
    await home.execute(query)
    return query
  }

  static func deliver(_ home: Home) async throws -> BackgroundDelivery {
    let delivery = try await home.enableBackgroundDelivery(
      for: .connectivity, frequency: .every(.seconds(60)), target: .command(["notify-send", "Home"]))
    return delivery
  }

  /// Reads every change from the log, from now on, and lets the home run a command for changes of the connectivity, also
  /// while the application does not run.
  static func record(_ home: Home) async throws -> ObserverQuery {
    _ = try await deliver(home)
    return await query(home, .all, Reader(home, .all, after: "\(try await home.anchor())"))
  }

  static func resume(_ home: Home) async throws {
    for delivery in try await home.backgroundDeliveries where delivery.isSuspended {
      print(delivery.failure ?? "", "after", delivery.anchor)
      try await home.resumeBackgroundDelivery(delivery.id)
    }
  }
}
