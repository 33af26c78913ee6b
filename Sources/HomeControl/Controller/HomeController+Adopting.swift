internal import HomeAutomation
package import HomeModel
internal import HomeStore
package import MatterController
package import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Nodes come into the fabric, or leave it, by other processes. What was asked for a new one is in the database before the node is
// in the fabric, so that whoever hears it first knows its name.
extension HomeController {
  /// Takes over the nodes that are in the fabric by now. Where that can't be, it is tried again.
  func adopt() async {
    guard options.access == .readOnly else { return }
    // What is noted from now on may not be in what is read.
    isAdoptionDue = false
    guard let stored = try? options.machine.storedState(of: options.state.controller),
      let wishes = try? await edge.value.keeper.perform({ try $0.wishes() }).get()
    else {
      isAdoptionDue = true
      return
    }
    edge.value.host.perform { engine, now in engine.applyStoreChanges(stored, wishes: wishes, at: now) }
  }

  /// Another process wrote into the database: it may be pairing a device. It says so in the log when it has done it, unless it
  /// was killed in between. Or it may have removed one that had not told yet what it is, of which there is nothing in the log.
  func noteWishes() async {
    guard options.access == .readOnly, let center, let wishes = try? await center.work({ try $0.wishes() }) else {
      return
    }
    let (nodes, state) = (Set(nodes.map(\.nodeID)), state)
    let isNew = wishes.keys.contains { !nodes.contains($0) }
    let isGone = nodes.contains { wishes[$0] == nil && state.sources(of: $0).isEmpty }
    if isNew || isGone { isAdoptionDue = true }
  }

  /// Takes nodes over that nobody told of, or that could not be taken over before.
  func adoptIfDue() async {
    guard isAdoptionDue, let center, !HomeLock.isHeld(options.state) else { return }
    do {
      // What is written of them by now comes first.
      try await center.catchUp()
      if isAdoptionDue { await adopt() }
    } catch {
      // The next look does it.
    }
  }

  // MARK: Nodes that have not told what they are

  /// Returns the changes that add the nodes of the fabric whose descriptions have not been read yet, as the devices that
  /// they will be.
  package func awaited() -> [HomeChange] {
    let reducer = edge.value.reducer
    let nodes = nodes.map(\.nodeID).filter { reducer.state.sources(of: $0).isEmpty }
    return nodes.isEmpty ? [] : reducer.state.changes(to: reducer.awaiting(nodes.sorted()))
  }

  /// What becomes of these nodes is a client's doing from now on; nil: nobody's.
  package func attribute(_ nodes: [NodeID], to origin: String?) {
    edge.value.host.perform { (engine: inout HomeEngine, _) in engine.attribute(nodes, to: origin) }
  }

  // MARK: Wishes

  /// Stores what is asked for a device that is about to be paired.
  /// - Returns: what holds for it, by the ids of which it gets one.
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

  /// Whether a node is in the home, in the fabric or not any more: what is asked for another one of its id is not for this one.
  private func isDevice(_ node: NodeID) -> Bool { !state.sources(of: node).isEmpty }

  /// Forgets what was asked for devices that are there by now, or that did not come into the fabric. Waits until everything
  /// that happened so far is in the database.
  package func forgetWishes(for candidates: [NodeID] = []) async throws(HomeError) {
    let known = fabricNodes
    let inFabric = Set(nodes.map(\.nodeID))
    for node in candidates.sorted() where !inFabric.contains(node) && !isDevice(node) { take(.nodeRemoved(node)) }
    do { try await edge.value.keeper.perform { try $0.forgetWishes(besides: known) }.get() } catch {
      throw HomeError(error)
    }
  }

  /// Those of the fabric, and those of which nobody knows whether they are.
  private var fabricNodes: Set<NodeID> {
    edge.value.perform { engine, _ in Set(engine.nodes.map(\.nodeID) + engine.unconfirmedNodes) }
  }
}
