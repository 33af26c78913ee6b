import HearthHome
import HomeModel
import MatterModel
import MatterProtocol
import Testing

@testable import Hub

/// The events of the Matter server as projections of changes of the home.
struct NodeProjectionTests {
  private static let online = SourceStatus(SourceConnectivity(.online, .peer))
  private static let revision = GlobalAttribute.clusterRevision

  private var state = HomeState()
  private var projection: NodeProjection

  init() {
    for change in ServedHome.lamp + [.connectivity(SourceID(5), Self.online)] { state.apply(change) }
    projection = NodeProjection(state)
  }

  private mutating func events(_ changes: [HomeChange]) -> [NodeEvent] {
    for change in changes { state.apply(change) }
    return projection.apply(HomeUpdate(changes, at: 1), state)
  }

  private static let bridgeChanges = ServedHome.bridge.filter { if case .structureAdded = $0 { false } else { true } }

  @Test mutating func sendsKnownAttributes() {
    let level = ServedHome.level
    #expect(events([.attribute(5, level, value: [0x04, 9])]) == [.attribute(5, level, value: [0x04, 9])])
    #expect(events([.attribute(6, level, value: [0x04, 9])]) == [])
    #expect(events([.attribute(.temporaryLocal(1), level, value: [0x04, 9])]) == [])
  }

  @Test mutating func updatesNodesWithNewClusters() {
    let path = ConcreteAttributePath(1, 6, 0)
    #expect(events([.attribute(5, path, value: [0x09])]) == [.updated(5)])
    #expect(events([.attribute(5, path, value: [0x08])]) == [.attribute(5, path, value: [0x08])])
  }

  @Test mutating func updatesNodesWithoutRemovedAttributes() {
    let (level, cluster) = (ServedHome.level, ConcreteAttributePath(1, 8, Self.revision))
    #expect(events([.attribute(5, cluster, value: [0x04, 6])]) == [.attribute(5, cluster, value: [0x04, 6])])
    let removed = HomeChange.attribute(5, level, value: nil)
    #expect(
      events([removed, .attribute(5, cluster, value: [0x04, 5])]) == [
        .updated(5), .attribute(5, cluster, value: [0x04, 5]),
      ])
    // The last attribute of the cluster; a new value is part of a node object again.
    #expect(events([.attribute(5, cluster, value: nil)]) == [.updated(5)])
    #expect(events([.attribute(5, level, value: [0x04, 9])]) == [.updated(5)])
    #expect(events([.attribute(6, level, value: nil)]) == [])
  }

  @Test mutating func sendsAvailabilityOnce() {
    let offline = HomeChange.connectivity(
      SourceID(5), SourceStatus(SourceConnectivity(.offline, .peer), reason: .timedOut))
    #expect(events([offline]) == [.updated(5)])
    #expect(projection.nodes[5]?.isAvailable == false)
    #expect(events([offline]) == [])
    #expect(events([.connectivity(SourceID(5), Self.online)]) == [.updated(5)])
  }

  @Test mutating func announcesIncompleteNodesOnRequestOnly() {
    #expect(events(Self.bridgeChanges + [.connectivity(SourceID(7), Self.online)]) == [])
    #expect(projection.pending == [7])
    // Events of a node that clients do not know are dropped.
    let data = EventData(.init(2, 0x3B, 6), number: 1, priority: .info, timestamp: .epoch(1), payload: nil)
    #expect(events([.event(7, data), .attribute(7, .init(2, 6, 0), value: [0x09])]) == [])
    #expect(projection.announce(7, state) == [.added(7), .updated(7)])
    #expect(projection.announce(7, state) == [])
    #expect(events([.event(7, data)]) == [.event(7, data)])
    #expect(events([.deviceRemoved(id: "7/2")]) == [.endpointRemoved(7, 2), .updated(7)])
  }

  @Test mutating func sendsAvailabilityAfterNode() {
    #expect(events(Self.bridgeChanges) == [])
    #expect(projection.announce(7, state) == [.added(7)])
    #expect(events([.connectivity(SourceID(7), Self.online)]) == [.updated(7)])
  }

  @Test mutating func forgetsPendingNodesThatAreRemoved() {
    #expect(events(Self.bridgeChanges) == [])
    #expect(events([.deviceRemoved(id: "7/2"), .deviceRemoved(id: "7/3"), .deviceRemoved(id: "7")]) == [])
    #expect(projection.announce(7, state) == [])
    #expect(events([.deviceRemoved(id: "5")]) == [.removed(5)])
    #expect(projection.nodes.isEmpty)
  }

  @Test mutating func reloads() {
    #expect(projection.reload(state) == [.updated(5)])
    #expect(projection.reload(HomeState()) == [.removed(5)])
    #expect(projection.reload(state) == [])
    #expect(projection.pending == [5])
  }
}
