internal import HomeAutomation
package import HomeModel
internal import HomeStore
package import MatterController
package import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Nodes of the fabric whose descriptions have not been read yet, and their requested names.
extension HomeController {
  /// Returns the changes that add, as preliminary devices, the nodes of the fabric whose descriptions have not been
  /// read yet.
  package func awaited() -> [HomeChange] {
    let reducer = edge.value.reducer
    let nodes = nodes.map(\.nodeID).filter { reducer.state.sources(of: $0).isEmpty }
    return nodes.isEmpty ? [] : reducer.state.changes(to: reducer.awaiting(nodes.sorted()))
  }

  /// Attributes all further changes of these nodes to a client; nil ends the attribution.
  package func attribute(_ nodes: [NodeID], to origin: String?) {
    edge.value.host.perform { (engine: inout HomeEngine, _) in engine.attribute(nodes, to: origin) }
  }

  // MARK: Requested names and rooms

  /// Stores the requested name and room of a device that is about to be paired.
  /// - Returns: the stored values, by the possible node ids of the device.
  package func keep(_ wish: PairingWish, for request: CommissioningRequest) async throws(HomeError) -> [NodeID:
    PairingWish]
  {
    let candidates = edge.value.perform { engine, _ in engine.possibleNodeIDs(for: request) }
    let known = fabricNodes
    let wishes: [NodeID: PairingWish]
    do {
      wishes = try await edge.value.keeper.perform { try $0.keep(wish, for: candidates, besides: known) }.get()
    } catch {
      throw HomeError(error)
    }
    for node in candidates where !isDevice(node) { take(.node(node, wish: wishes[node])) }
    return wishes
  }

  /// Whether a node is in the home. The stored name and room of a candidate with the same id are then not for it.
  private func isDevice(_ node: NodeID) -> Bool { !state.sources(of: node).isEmpty }

  /// Deletes the stored names and rooms for devices that are in the home, or did not join the fabric. Waits until all
  /// previous changes are in the database.
  package func forgetWishes(for candidates: [NodeID] = []) async throws(HomeError) {
    let known = fabricNodes
    let inFabric = Set(nodes.map(\.nodeID))
    for node in candidates.sorted() where !inFabric.contains(node) && !isDevice(node) { take(.nodeRemoved(node)) }
    do { try await edge.value.keeper.perform { try $0.forgetWishes(besides: known) }.get() } catch {
      throw HomeError(error)
    }
  }

  /// The nodes of the fabric, including those whose commissioning is not confirmed.
  private var fabricNodes: Set<NodeID> {
    edge.value.perform { engine, _ in Set(engine.nodes.map(\.nodeID) + engine.unconfirmedNodes) }
  }
}
