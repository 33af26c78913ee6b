import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

@Suite struct OperationTests {
  private let fabricIndex = OperationalCredentials.currentFabricIndex.path(on: .root)
  private let removeFabric = OperationalCredentials.removeFabric.path(on: .root)

  private func operation(_ task: Operation.Task) -> Operation { Operation(id: OperationID(1), task: task, node: 1) }

  private func response(_ fields: some ModelStruct) -> Reply {
    .invoked([.command(CommandData(removeFabric, fields: fields.tlv))])
  }

  // MARK: Retries

  @Test("doubles the delay of each retry after a busy answer, up to the maximum number") func backsOff() {
    var operation = operation(.connect)
    let retries = (0...3).map { _ in operation.retryBusy(maximum: 3, at: .zero) }
    #expect(retries == [.at(0.5), .at(1), .at(2), nil])
    operation.resetRetries()
    #expect(operation.wakeUp == nil)
    let again = operation.retryBusy(maximum: 3, at: .at(9))
    #expect(again == .at(9.5))
  }

  @Test func takesRetryOnceWhenDue() {
    var operation = operation(.connect)
    operation.deadline = .at(30)
    _ = operation.retryBusy(maximum: 3, at: .zero)
    #expect(operation.wakeUp == .at(0.5))
    #expect(!operation.isDue(at: .at(0.4)) && operation.isDue(at: .at(0.5)))
    let taken = [operation.takeRetry(at: .at(0.4)), operation.takeRetry(at: .at(0.5)), operation.takeRetry(at: .at(1))]
    #expect(taken == [false, true, false])
    #expect(operation.wakeUp == .at(30))
  }

  // MARK: Removal

  @Test("removes the fabric with the index that the node reports") func removalSteps() throws {
    var operation = operation(.remove(isForced: false, index: nil))
    guard case .read(let read)? = operation.request else { throw ControllerError.notFound }
    #expect(read.attributePaths == [AttributePath(fabricIndex)])
    let report = ReassembledReport([AttributeData(fabricIndex, dataVersion: 1, value: FabricIndex(3).tlv)], [])
    guard case .request = try operation.handle(.report(report)) else { throw ControllerError.notFound }
    guard case .invoke(let commands, nil)? = operation.request else { throw ControllerError.notFound }
    #expect(commands.map(\.path) == [removeFabric])
    #expect(commands.first?.fields == OperationalCredentials.RemoveFabricRequest(fabricIndex: 3).tlv)
    guard case .removed = try operation.handle(response(OperationalCredentials.NOCResponse(statusCode: .ok))) else {
      throw ControllerError.notFound
    }
  }

  @Test func rejectsInvalidRemovalAnswers() throws {
    for value in [[], [AttributeData(fabricIndex, dataVersion: 1, value: FabricIndex.none.tlv)]] {
      var operation = operation(.remove(isForced: false, index: nil))
      #expect(throws: ControllerError.unexpectedResponse("no current fabric index")) {
        try operation.handle(.report(ReassembledReport(value, [])))
      }
    }
    var operation = operation(.remove(isForced: false, index: 3))
    let refusal = OperationalCredentials.NOCResponse(statusCode: .invalidFabricIndex, debugText: "no")
    #expect(throws: ControllerError.operationalCredentials(.invalidFabricIndex, "no")) {
      try operation.handle(response(refusal))
    }
    #expect(throws: ControllerError.self) { try operation.handle(.written([])) }
  }

  @Test("decides whether an error ends a removal") func removalErrors() {
    let refusal = ControllerError.handshake(.refused(StatusReport(.failure, .noSharedTrustRoots)))
    let forced = operation(.remove(isForced: true, index: nil))
    #expect(forced.removal(after: refusal) == .notMember)
    #expect(forced.removal(after: .unreachable) == .unconfirmed)
    let sent = operation(.remove(isForced: false, index: 3))
    #expect(sent.removal(after: .connectionLost) == .confirmed, "the node closed the session with the fabric")
    #expect(sent.removal(after: .unreachable) == nil && sent.removal(after: refusal) == nil)
    #expect(operation(.remove(isForced: false, index: nil)).removal(after: .connectionLost) == nil)
    #expect(operation(.connect).removal(after: .connectionLost) == nil)
  }

  @Test func keepsVisibleNamesOfRemovals() {
    #expect([Removal.confirmed, .notMember, .unconfirmed].map(\.rawValue) == ["told", "notMember", "notTold"])
  }

  // MARK: Table

  private func change(of node: NodeID, _ group: GroupID = 1) -> Operation.Task {
    .changeGroup(GroupChange(GroupRecord(group, "Den", keySet: 1), node, [1], isJoining: false))
  }

  @Test func numbersOperationsInOrder() {
    var table = OperationTable()
    let ids = [table.add(.connect, 2), table.makeID(), table.add(.connect, 1), table.add(.connect, 2)]
    #expect(ids.map(\.rawValue) == [1, 2, 3, 4])
    #expect(ids.map { table[$0] != nil } == [true, false, true, true], "an operation that fails at once is not added")
    #expect(table.ids(with: 2) == [ids[0], ids[3]])
    let removed = table.remove(ids[0])
    #expect(removed?.id == ids[0] && table[ids[0]] == nil)
    table[ids[2]]?.node = 2
    #expect(table.ids(with: 2) == [ids[2], ids[3]] && table.ids(with: 1).isEmpty)
    let next = table.makeID()
    #expect(next.rawValue == 5, "ids are not reused")
  }

  @Test func returnsEarliestDeadline() {
    var table = OperationTable()
    #expect(table.nextDeadline == nil)
    let late = table.add(.connect, 1, deadline: .at(9))
    let id = table.add(.connect, 1, deadline: .at(7))
    #expect(table.nextDeadline == .at(7))
    _ = table[id]?.retryBusy(maximum: 1, at: .at(1))
    #expect(table.nextDeadline == .at(1.5))
    #expect(table.due(at: .at(1)).isEmpty && table.due(at: .at(2)) == [id] && table.due(at: .at(9)).first == late)
    table[id]?.resetRetries()
    #expect(table.nextDeadline == .at(7))
    _ = table.remove(id)
    #expect(table.nextDeadline == .at(9))
  }

  @Test("queues operations per node, in order") func backlog() {
    var table = OperationTable()
    let ids = [1, 1, 2, 1].map { (node: NodeID) in table.add(.connect, node) }
    for id in ids { table.enqueue(id) }
    #expect(table.backlog == [1: [ids[0], ids[1], ids[3]], 2: [ids[2]]])
    table.dequeue(ids[1])
    #expect(table.backlog[1] == [ids[0], ids[3]])
    _ = table.remove(ids[2])
    #expect(table.backlog[2] == nil)
    table.dequeue(ids[0], of: 1)
    table.dequeue(ids[3], of: 1)
    #expect(table.backlog.isEmpty)
    let discovery = table.add(.discover(.commissioner))
    table.enqueue(discovery)
    #expect(table.backlog.isEmpty, "an operation without a node has no backlog")
  }

  @Test("serializes the group changes of a node") func groupChanges() {
    var table = OperationTable()
    let first = table.add(change(of: 1), 1)
    let second = table.add(change(of: 1, 2), 1)
    let other = table.add(change(of: 2), 2)
    let read = table.add(.connect, 1)
    #expect([first, second, other, read].map { table.mustWait($0) } == [false, true, false, false])
    #expect(table.firstGroupChange(of: 1)?.id == first)
    #expect(table.isChanging(2, of: 1) && !table.isChanging(2, of: 2))
    _ = table.remove(first)
    #expect(table.firstGroupChange(of: 1)?.id == second && !table.mustWait(second))
    #expect(table.firstGroupChange(of: 3) == nil)
  }

  @Test("serializes the access changes of a node") func accessChanges() {
    var table = OperationTable()
    let first = table.add(.changeAccess(AccessChange(1, [])), 1)
    let second = table.add(.changeAccess(AccessChange(1, [])), 1)
    let other = table.add(.changeAccess(AccessChange(2, [])), 2)
    let group = table.add(change(of: 1), 1)
    #expect([first, second, other, group].map { table.mustWait($0) } == [false, true, false, false])
    #expect(table.isChangingAccess(of: 1) && !table.isChangingAccess(of: 3))
    _ = table.remove(first)
    #expect(table.firstAccessChange(of: 1) == second && !table.mustWait(second))
  }

  @Test func findsWrittenAttributes() throws {
    let (acl, label) = (AccessControl.acl.path(on: .root), BasicInformation.nodeLabel.path(on: .root))
    let chunks = try WriteRequestChunks([
      AttributeWrite(label, value: "a".tlv), AttributeWrite(acl, value: [0x16, 0x18]),
    ])
    let write = operation(.request(.write(chunks, timed: nil)))
    #expect(write.writes(acl) && write.writes(label) && !write.writes(fabricIndex))
    #expect(!operation(.connect).writes(acl))
  }

  @Test func findsDiscoveriesOfService() {
    var table = OperationTable()
    let all = table.add(.discover(.commissionable(.any)))
    _ = table.add(.discover(.commissioner))
    let one = table.add(.discover(.commissionable(.instance(5))))
    let service = MatterService(kind: .commissionable(instance: 5), hostName: "000000000001", port: 5540)
    #expect(table.discoveries(of: service) == [all, one])
    _ = table.remove(all)
    #expect(table.discoveries(of: service) == [one])
  }
}

extension OperationTable {
  fileprivate func mustWait(_ id: OperationID) -> Bool { self[id].map { mustWait($0) } ?? true }
}
