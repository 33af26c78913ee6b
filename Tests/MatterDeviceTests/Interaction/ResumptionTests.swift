import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Subscriptions that survive a restart of the device.
@Suite struct ResumptionTests {
  private static let onOff = AttributePath(OnOff.onOff.path(on: 1))
  private static let request = SubscribeRequest(
    minIntervalFloor: 0, maxIntervalCeiling: 60, attributePaths: [onOff], eventPaths: [EventPath(isUrgent: true)],
    isFabricFiltered: true, dataVersionFilters: [])

  /// Returns a device with one subscriber.
  private func subscribed(
    _ request: SubscribeRequest = request, _ change: (inout DeviceConfiguration) -> Void = { _ in }
  ) throws -> (Lab, UInt32) {
    var lab = try Lab(change)
    try lab.addAdministrator()
    let session = try lab.commission()
    let (_, response) = try lab.subscribe(request, on: session)
    lab.administrators[0].reports = []
    lab.administrators[0].established = nil
    return (lab, response.subscriptionID)
  }

  private func entries(_ lab: Lab) -> [String] { lab.store.keys.filter { $0.hasPrefix("subscription/") } }

  @Test func resumesWithSameIDAndReportsChanges() throws {
    var (lab, id) = try subscribed()
    try lab.device.act(set: OnOff.onOff, true, on: 1, at: lab.now)
    lab.settle()
    lab.administrators[0].reports = []
    lab.crash()
    #expect(lab.administrators[0].established != nil, "the device opened a session")
    #expect(lab.device.standingSubscriptions == [id])
    #expect(lab.device.pendingResumptions.isEmpty)
    let attributes = lab.administrators[0].reports.flatMap(\.attributeReports)
    #expect(lab.administrators[0].reports.allSatisfy { $0.subscriptionID == id })
    #expect(attributes.count == 1, "each attribute is reported once")

    lab.administrators[0].reports = []
    try lab.device.act(set: OnOff.onOff, false, on: 1, at: lab.now)
    lab.settle()
    #expect(lab.administrators[0].reports.count == 1)
    lab.administrators[0].reports = []
    lab.advance(by: .seconds(60))
    #expect(lab.administrators[0].reports.count == 1, "an empty report at the maximum interval")
    // A second restart.
    lab.crash()
    #expect(lab.device.standingSubscriptions == [id])
  }

  @Test func reportsEachEventOnce() throws {
    var (lab, _) = try subscribed()
    for _ in 1...2 {
      lab.administrators[0].reports = []
      lab.crash()
      let starts = lab.administrators[0].reports.flatMap(\.eventReports).filter {
        if case .data(let data) = $0 {
          data.path.cluster == BasicInformation.id && data.path.event == BasicInformation.startUp.id
        } else {
          false
        }
      }
      #expect(starts.count == 1, "only the StartUp event of this run")
    }
    let numbers = lab.administrators[0].reports.flatMap(\.eventReports).compactMap {
      if case .data(let data) = $0 { data.number } else { nil }
    }
    lab.administrators[0].reports = []
    lab.crash()
    let later = lab.administrators[0].reports.flatMap(\.eventReports).compactMap {
      if case .data(let data) = $0 { data.number } else { nil }
    }
    #expect(!later.isEmpty && Set(later).isDisjoint(with: numbers))
  }

  @Test func retriesWithBackOff() throws {
    var (lab, id) = try subscribed()
    let address = lab.administrators[0].address
    let administrator = lab.administrators.removeFirst()
    lab.crash()
    #expect(lab.device.pendingResumptions == [id])
    var starts = 0
    let end = lab.now + .seconds(100)
    while let deadline = lab.device.nextDeadline, deadline < end {
      let attempts = lab.device.resumptions.first?.attempts.count ?? 0
      lab.now = max(lab.now, deadline)
      lab.device.advance(to: lab.now)
      lab.settle()
      if attempts == 0, lab.device.resumptions.first?.attempts.count == 1 { starts += 1 }
    }
    #expect((3...8).contains(starts), "\(starts) attempts in 100 s")
    #expect(lab.device.pendingResumptions == [id] && entries(lab).count == 1)
    lab.administrators.append(administrator)
    #expect(lab.administrators[0].address == address)
    lab.advance(by: .seconds(300))
    #expect(lab.device.standingSubscriptions == [id])
  }

  @Test func dropsUnreachableSubscriber() throws {
    var (lab, _) = try subscribed()
    lab.administrators.removeAll()
    lab.crash()
    lab.advance(by: .seconds(4000))
    #expect(lab.device.pendingResumptions.isEmpty && entries(lab).isEmpty)
    #expect(lab.device.bound.browsing.isEmpty)
  }

  @Test func dropsSubscriptionUnknownToSubscriber() throws {
    var (lab, _) = try subscribed()
    #expect(entries(lab).count == 1)
    lab.administrators[0].reportStatus = .invalidSubscription
    lab.crash()
    #expect(lab.administrators[0].reports.count == 1)
    #expect(lab.device.subscriptions.isEmpty && entries(lab).isEmpty)
  }

  @Test func removesEndedSubscription() throws {
    var (lab, _) = try subscribed()
    let session = try #require(lab.administrators[0].core.sessions.first?.id)
    lab.administrators[0].core.close(session, notifyingPeer: true, at: lab.now)
    lab.settle()
    #expect(entries(lab).isEmpty)
  }

  @Test func replacesSubscriptionsOfEarlierRun() throws {
    var (lab, id) = try subscribed()
    // The subscriber is unreachable during the restart.
    let old = lab.administrators[0]
    lab.administrators = []
    lab.crash()
    #expect(lab.device.pendingResumptions == [id])
    lab.administrators = [old]
    var request = Self.request
    for keeps in [true, false] {
      request.keepSubscriptions = keeps
      let opened = lab.openCASE()
      let session = try #require(opened)
      if keeps {
        // A session from the old address resumes the subscription immediately.
        #expect(lab.device.standingSubscriptions == [id])
      }
      let (_, response) = try lab.subscribe(request, on: session)
      #expect(lab.device.standingSubscriptions == (keeps ? [id, response.subscriptionID] : [response.subscriptionID]))
    }
    #expect(entries(lab).count == 1)
  }

  @Test func dropsSubscriptionsOfRemovedFabric() throws {
    var (lab, _) = try subscribed()
    let administrator = lab.administrators.removeFirst()
    lab.crash()
    #expect(lab.device.pendingResumptions.count == 1)
    lab.device.factoryReset(at: lab.now)
    lab.settle()
    #expect(lab.device.pendingResumptions.isEmpty && entries(lab).isEmpty)
    _ = administrator
  }

  @Test func findsMovedSubscriber() throws {
    var (lab, id) = try subscribed()
    let fabric = try #require(lab.device.fabrics.first)
    let moved = SocketAddress(.loopback6, port: 51_000)
    lab.crash(movingAdministratorTo: moved)
    #expect(lab.device.pendingResumptions == [id])
    let service = MatterService(
      kind: .operational(
        compressedFabricID: fabric.compressedFabricID, nodeID: lab.administrators[0].node.rawValue),
      hostName: "000000000001", port: moved.port, addresses: [moved.ip])
    lab.device.handle(.serviceFound(service), at: lab.now)
    lab.settle()
    #expect(lab.device.standingSubscriptions == [id])
  }

  @Test func canBeDisabled() throws {
    var (lab, _) = try subscribed(Self.request) { $0.resumesSubscriptions = false }
    #expect(entries(lab).isEmpty)
    lab.store["subscription/1/5"] = [1, 2, 3]
    lab.crash()
    #expect(lab.administrators[0].reports.isEmpty && lab.administrators[0].established == nil)
    #expect(entries(lab).isEmpty)
  }

  /// Entries may be invalid after a crash of the file system, or written by another version.
  @Test(arguments: ["subscription/1/5", "subscription/9/5", "subscription/", "subscription/1/zz"])
  func skipsInvalidEntries(key: String) throws {
    var (lab, id) = try subscribed()
    lab.store[key] = [0x15, 0x18]
    lab.crash()
    #expect(lab.device.standingSubscriptions == [id] && entries(lab).count == 1)
  }

  @Test func evictsPendingResumptions() throws {
    var (lab, _) = try subscribed()
    let session = try #require(lab.administrators[0].core.sessions.first { $0.kind == .case }?.id)
    for _ in 1..<SubscriptionLimits.perFabric {
      var request = Self.request
      request.keepSubscriptions = true
      _ = try lab.subscribe(request, on: session)
    }
    #expect(entries(lab).count == SubscriptionLimits.perFabric)
    lab.crash(movingAdministratorTo: SocketAddress(.loopback6, port: 51_000))
    #expect(lab.device.pendingResumptions.count == SubscriptionLimits.perFabric)
    let opened = lab.openCASE()
    var request = Self.request
    request.keepSubscriptions = true
    _ = try lab.subscribe(request, on: try #require(opened))
    #expect(lab.device.pendingResumptions.count == SubscriptionLimits.perFabric - 1)
    #expect(entries(lab).count == SubscriptionLimits.perFabric)
  }
}
