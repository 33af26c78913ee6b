package import CloudLink
package import Foundation
package import HomeAutomation
package import HomeModel
package import HomeStore
package import MatterController
package import MatterProtocol

/// An operation on a home. Any process performs it through the owner of the home.
///
/// As JSON, a request is an object with one member: the name of the case with the labels of its values.
package enum HomeRequest: Sendable, Codable {
  // MARK: Names

  /// All of the edits or, if one fails, none.
  case edit(edits: [HomeEdit])

  // MARK: Devices

  case read(node: NodeID, paths: [AttributePath], isFabricFiltered: Bool, timeout: Duration?)
  case write(node: NodeID, writes: [AttributeWrite], isTimed: Bool)
  case invoke(node: NodeID, command: CommandData, isTimed: Bool)
  /// Produces ``HomeProgress/subscription(news:)`` until it is canceled.
  case subscribe(node: NodeID, request: SubscriptionRequest)
  /// Writes to the source that a trait of a device comes from.
  /// - Parameter source: the source that the endpoints of the writes belong to.
  case writeDevice(device: String, source: SourceID?, writes: [AttributeWrite], isTimed: Bool, timeout: Duration?)
  /// Invokes a command of the source that a trait of a device comes from.
  case invokeDevice(device: String, source: SourceID?, command: CommandData, isTimed: Bool, timeout: Duration?)
  case openWindow(node: NodeID, duration: Duration, isEnhanced: Bool)

  // MARK: The log

  case anchor
  case samples(after: Anchor?, filter: SampleFilter, limit: Int)

  // MARK: The fabric

  case fabric
  /// Commissions a device. Produces ``HomeProgress/commissioning(step:progress:)``.
  indirect case pair(request: CommissioningRequest, name: String?, room: String?, trust: TrustStore?)
  /// Removes a node from the fabric and the home.
  case remove(node: NodeID, isForced: Bool)
  /// The result of the attestation of a node at its commissioning.
  case attestation(node: NodeID)
  /// Produces ``HomeProgress/discovery(news:)`` for the given time; nil: until it is canceled.
  case discover(query: DiscoveryQuery, time: Duration?)

  // MARK: Groups

  case groups
  case createGroup(id: GroupID?, name: String)
  case deleteGroup(id: GroupID)
  case addMember(group: GroupID, node: NodeID, endpoint: EndpointID)
  case removeMember(group: GroupID, node: NodeID, endpoint: EndpointID)
  case invokeGroup(group: GroupID, cluster: ClusterID, command: CommandID, fields: [UInt8]?)

  // MARK: Cloud accounts

  case cloudAccounts
  case addCloudAccount(name: String, address: String, token: String)
  case refreshCloudAccount(name: String)
  case removeCloudAccount(name: String)

  // MARK: Settings

  case settings
  case changeSettings(changes: HomeSettings.Changes)

  // MARK: Background deliveries

  case deliveries
  /// - Parameters:
  ///   - after: the position after which changes are delivered; nil: the end of the log.
  ///   - program: the name of the program, which adds equal deliveries only once.
  case addDelivery(
    filter: SampleFilter, frequency: BackgroundDelivery.Frequency, target: BackgroundDelivery.Target, after: Anchor?,
    program: String? = nil)
  case resumeDelivery(id: Int64)
  case removeDelivery(id: Int64)

  // MARK: Clients

  case clients
  case invite(name: String, role: HomeRole)
  case revoke(name: String)
  /// Issues a certificate to an invited client, for its own sessions with the devices.
  /// - Parameter request: a PKCS#10 signing request (DER).
  case certify(request: Data)
  case status
  /// Keeps the devices' states up to date from now on, unless the process does already.
  case follow

  // MARK: Simulated devices

  /// The virtual devices that run on the machine of the home.
  case simulatedDevices
  /// Sends a request of `hearth sim` to a process of virtual devices.
  /// - Parameter request: one line of JSON, as on the control socket of the process.
  case simulate(process: Int32, request: String)

  /// The names of the requests.
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case edit
    case read, write, invoke, subscribe, writeDevice, invokeDevice, openWindow
    case anchor, samples
    case fabric, pair, remove, attestation, discover
    case groups, createGroup, deleteGroup, addMember, removeMember, invokeGroup
    case cloudAccounts, addCloudAccount, refreshCloudAccount, removeCloudAccount
    case settings, changeSettings
    case deliveries, addDelivery, resumeDelivery, removeDelivery
    case clients, invite, revoke, certify, status, follow
    case simulatedDevices, simulate
  }
}

/// The result of a ``HomeRequest``.
package enum HomeReply: Sendable, Codable {
  case done
  case edited(results: [HomeEdit.Result])
  case report(attributes: [AttributeData], statuses: [AttributeStatus])
  case written(statuses: [AttributeStatus])
  case invoked(response: CommandData?)
  case window(window: CommissioningWindow)
  case anchor(anchor: Anchor)
  case samples(result: AnchoredResult)
  case fabric(fabric: HomeFabric)
  /// - Parameter room: the name of the room of the device.
  case paired(device: DeviceEntry, room: String?, result: CommissioningResult)
  case removed(removal: Removal)
  case attestation(attestation: DeviceAttestation?)
  case groups(groups: [GroupRecord], deleted: [GroupRecord])
  case group(group: GroupRecord)
  /// - Parameter pending: the nodes that have not left the group yet.
  case groupDeleted(pending: [NodeID])
  case cloudAccounts(accounts: [CloudAccount])
  case cloudAccount(account: CloudAccount)
  /// - Parameter devices: the names of the removed devices.
  case cloudAccountRemoved(account: CloudAccount, devices: [String])
  case settings(settings: HomeSettings)
  case deliveries(deliveries: [BackgroundDelivery])
  case delivery(delivery: BackgroundDelivery)
  /// - Parameter hadFailed: whether the delivery was suspended or in its back-off.
  case deliveryResumed(hadFailed: Bool)
  case clients(clients: [InvitedClient])
  case invited(client: InvitedClient, token: String)
  case revoked(client: InvitedClient, pending: [String])
  case certified(credentials: ClientCredentials)
  case status(status: HubStatus)
  case simulatedDevices(devices: [SimulatedNode])
  /// - Parameter reply: one line of JSON, as on the control socket of the process.
  case simulated(reply: String)
}

/// A value that a request produces before its reply.
package enum HomeProgress: Sendable, Codable {
  case commissioning(step: CommissioningStep, progress: StepProgress)
  case discovery(news: DiscoveryEvent)
  case subscription(news: SubscriptionEvent)

  /// A receiver of the values, in order. Called on the event loop of the home.
  package typealias Handler = @Sendable (HomeProgress) -> Void
}

extension HomeReply {
  /// The response command of a reply to a command; nil for another reply.
  package var response: CommandData?? { if case .invoked(let response) = self { .some(response) } else { nil } }
}

extension HomeError {
  package static let unexpectedReply = HomeError(.internalError, "unexpected reply to a request")
  /// The error of a request whose task was canceled.
  package static let canceled = HomeError(.interrupted, "canceled")
}
