internal import HearthHome
internal import HomeText
internal import Logging
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// A controller of another fabric that exhausts the resources of a device: it opens sessions without closing any, or
/// keeps subscriptions.
struct CompetingController {
  let machine: any Machine
  let interfaces: InterfaceSelection
  let state: StateDirectory
  let logger: Logger

  /// Commissions the device once, and opens a session `times` times without closing it.
  /// - Parameters:
  ///   - home: the home that shares the device.
  ///   - abandon: ends a controller without notifying the device.
  func openSessions(
    _ device: String, of home: Home, times: Int, abandon: (HomeController) async throws -> Void
  ) async throws {
    let request = try await request(for: device, of: home)
    for turn in 0..<times {
      let competitor = try await Home(options)
      if turn == 0 { _ = try await competitor.pair(request) }
      // The device may refuse the session for lack of resources.
      _ = try? await competitor.read(
        try await record(of: device, in: competitor), [AttributePath(OnOff.onOff.path(on: 1))])
      try await abandon(try competitor.controller)
    }
  }

  /// The number of concurrent requests. A message whose counter is more than 32 behind the newest counts as a
  /// duplicate. Matter Core § 4.6.5.
  private static let mostAtOnce = 16

  /// Requests `count` subscriptions to all attributes, and keeps those granted.
  /// - Throws: ``HomeError``, also if the device grants fewer than it guarantees to each fabric, or fails in another
  ///   way than by refusing.
  func subscribe(to device: String, of home: Home, count: Int) async throws -> CompetingSubscriptions {
    let request = try await request(for: device, of: home)
    let competitor = try await Home(options)
    let record: DeviceRecord
    let promised: Int
    do {
      _ = try await competitor.pair(request)
      record = try await self.record(of: device, in: competitor)
      promised = try await competitor.subscriptionsPromised(by: record)
    } catch {
      await competitor.close()
      throw error
    }
    var kept: [CompetingSubscriptions.Stream] = []
    do {
      for first in stride(from: 0, to: count, by: Self.mostAtOnce) {
        kept += try await withThrowingTaskGroup(of: CompetingSubscriptions.Stream?.self) { group in
          for _ in first..<min(count, first + Self.mostAtOnce) {
            group.addTask { try await competitor.subscription(to: record) }
          }
          return try await group.reduce(into: []) { all, stream in if let stream { all.append(stream) } }
        }
      }
      guard kept.count >= min(count, promised) else {
        throw HomeError(
          .refused, "\(device) promises \(promised) subscriptions, and gave the second administrator \(kept.count)")
      }
    } catch {
      await competitor.close()
      throw error
    }
    return CompetingSubscriptions(home: competitor, streams: kept)
  }

  private var options: HomeController.Options {
    var options = HomeController.Options(state: state, logger: logger)
    options.interfaces = interfaces
    options.discovery = .builtin
    options.machine = machine
    return options
  }

  private func request(for device: String, of home: Home) async throws -> CommissioningRequest {
    try await home.share(try await home.registry.resolve(device).device, for: .seconds(180)).request(for: device)
  }

  private func record(of device: String, in competitor: Home) async throws -> DeviceRecord {
    guard let known = try await competitor.devices().list().first, let record = known.record else {
      throw HomeError(.notFound, "the second administrator has lost \(device)")
    }
    return record
  }
}

/// The subscriptions of a competing controller, with the home that keeps them open.
struct CompetingSubscriptions: Sendable {
  typealias Stream = AsyncThrowingStream<SubscriptionEvent, any Error>

  let home: Home
  /// A subscription lasts as long as its stream.
  let streams: [Stream]
}

extension Home {
  /// Returns the number of subscriptions that a device guarantees to each fabric. Matter Core § 11.1.4.4.
  fileprivate func subscriptionsPromised(by device: DeviceRecord) async throws -> Int {
    let report = try await read(device, [AttributePath(BasicInformation.capabilityMinima.path(on: .root))])
    return Int(try report.value(of: BasicInformation.capabilityMinima, on: .root).subscriptionsPerFabric)
  }

  /// Subscribes to all attributes; returns nil if the device refuses.
  fileprivate func subscription(to device: DeviceRecord) async throws -> CompetingSubscriptions.Stream? {
    let stream = backend.subscribe(device.nodeID, SubscriptionRequest(paths: [AttributePath()]))
    do {
      for try await event in stream { if case .established = event { return stream } }
      throw HomeError(.unreachable, "\(device.name) ended a subscription before it stood")
    } catch let error as HomeError where error.code == .refused {
      return nil
    }
  }
}
