internal import Home
internal import Logging
internal import MatterClusters
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// A second administrator, who is let into a device and wants more of it than his share: one session after the other without
/// closing any, or subscriptions.
struct CompetingController {
  let machine: any Machine
  let interfaces: InterfaceSelection
  let state: StateDirectory
  let logger: Logger

  /// - Parameters:
  ///   - home: who lets it in.
  ///   - vanish: ends the rival's controller without a word to the device.
  func visit(
    _ device: String, of home: Home, times: Int, vanish: (HomeController) async throws -> Void
  ) async throws {
    let request = try await request(for: device, of: home)
    for turn in 0..<times {
      let rival = try await Home(options)
      if turn == 0 { _ = try await rival.pair(request) }
      // The device may have no room for it: that is its affair.
      _ = try? await rival.read(try await record(of: device, in: rival), [AttributePath(OnOff.onOff.path(on: 1))])
      try await vanish(try rival.controller)
    }
  }

  /// How many requests are under way at a time: the receiver of a message knows the numbers of the 32 before it, and takes one
  /// that is older for a repetition. Matter Core § 4.6.5.
  private static let mostAtOnce = 16

  /// Asks for so many subscriptions to all that the device has, and keeps those that it gets.
  /// - Throws: ``HomeError``, also where the device gives it fewer than it promises to everybody, or does something else
  ///   than to refuse the others.
  func subscribe(to device: String, of home: Home, count: Int) async throws -> CompetingSubscriptions {
    let request = try await request(for: device, of: home)
    let rival = try await Home(options)
    let record: DeviceRecord
    let promised: Int
    do {
      _ = try await rival.pair(request)
      record = try await self.record(of: device, in: rival)
      promised = try await rival.subscriptionsPromised(by: record)
    } catch {
      await rival.close()
      throw error
    }
    var kept: [CompetingSubscriptions.Stream] = []
    do {
      for first in stride(from: 0, to: count, by: Self.mostAtOnce) {
        kept += try await withThrowingTaskGroup(of: CompetingSubscriptions.Stream?.self) { group in
          for _ in first..<min(count, first + Self.mostAtOnce) {
            group.addTask { try await rival.subscription(to: record) }
          }
          return try await group.reduce(into: []) { all, stream in if let stream { all.append(stream) } }
        }
      }
      guard kept.count >= min(count, promised) else {
        throw HomeError(
          .refused, "\(device) promises \(promised) subscriptions, and gave the second administrator \(kept.count)")
      }
    } catch {
      await rival.close()
      throw error
    }
    return CompetingSubscriptions(home: rival, streams: kept)
  }

  private var options: HomeController.Options {
    var options = HomeController.Options(state: state, logger: logger)
    options.access = .exclusive
    options.interfaces = interfaces
    options.discovery = .builtin
    options.machine = machine
    return options
  }

  private func request(for device: String, of home: Home) async throws -> CommissioningRequest {
    try await home.share(try await home.registry.resolve(device).device, for: .seconds(180)).request(for: device)
  }

  private func record(of device: String, in rival: Home) async throws -> DeviceRecord {
    guard let known = try await rival.devices().list().first, let record = known.record(room: nil) else {
      throw HomeError(.notFound, "the second administrator has lost \(device)")
    }
    return record
  }
}

/// The subscriptions that a second administrator keeps, who stays for them.
struct CompetingSubscriptions: Sendable {
  typealias Stream = AsyncThrowingStream<SubscriptionNews, any Error>

  let home: Home
  /// They last as long as these do.
  let streams: [Stream]
}

extension Home {
  /// How many subscriptions a device promises to each fabric. Matter Core § 11.1.4.4.
  fileprivate func subscriptionsPromised(by device: DeviceRecord) async throws -> Int {
    let report = try await read(device, [AttributePath(BasicInformation.capabilityMinima.path(on: .root))])
    return Int(try report.value(of: BasicInformation.capabilityMinima, on: .root).subscriptionsPerFabric)
  }

  /// One more subscription to everything; nil where the device refuses it.
  fileprivate func subscription(to device: DeviceRecord) async throws -> CompetingSubscriptions.Stream? {
    let stream = subscribe(device, SubscriptionRequest(paths: [AttributePath()]))
    do {
      for try await news in stream { if case .established = news { return stream } }
      throw HomeError(.unreachable, "\(device.name) ended a subscription before it stood")
    } catch let error as HomeError where error.code == .refused {
      return nil
    }
  }
}
