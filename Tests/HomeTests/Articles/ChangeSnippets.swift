import Home

// The code samples of the article “Receiving changes”, verbatim; `ArticleTests` compares and runs them.

enum ChangeSnippets {
  final class Screen: HomeManagerDelegate, HomeDelegate, AccessoryDelegate {
    func homeManagerDidUpdateHomes(_ manager: HomeManager) async {
      print("reload", manager.homes.map(\.name))
    }
    func home(_ home: ManagedHome, didAdd room: Room) async {
      print("added the room \(room.name) to \(home.name)")
    }
    func accessoryDidUpdateReachability(_ accessory: HomeDevice) async {
      print(accessory.name, accessory.isReachable ? "online" : "offline")
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
          for sample in samples { print(sample.time, sample.change, sample.origin ?? "the device") }
          isComplete = isLast
        case .reset(let stored):
          // The log starts after the anchor: reload the home.
          for device in await home.devices(of: stored) { print(device.name) }
        }
        anchor = result.next
      }
    }
  }

  static func query(_ home: Home, _ filter: SampleFilter, _ reader: Reader) async throws -> ObserverQuery {
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
    try await home.execute(query)
    return query
  }

  static func deliver(_ state: StateDirectory) throws -> BackgroundDelivery {
    let delivery = try StoredNames(state).withDatabase { database throws(HomeError) in
      try database.add(
        BackgroundDelivery(
          SampleFilter(.connectivity), .every(.seconds(60)), to: .command(["notify-send", "Home"]),
          after: try database.anchor()))
    }
    return delivery
  }

  static func resume(_ state: StateDirectory) throws {
    try StoredNames(state).withDatabase { database throws(HomeError) in
      for delivery in try database.backgroundDeliveries() where delivery.isSuspended {
        print(delivery.failure ?? "", "after", delivery.anchor)
        try database.resumeBackgroundDelivery(delivery.id)
      }
    }
  }
}
