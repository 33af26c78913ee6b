import Glibc
import HearthHome
import MatterModel
import MatterProtocol
import Testing

@testable import hearth

@Suite("Address book") struct AddressBookTests {
  private func book(_ text: String) throws(HomeError) -> AddressBook {
    try AddressBook(parsing: text, name: "book")
  }

  /// Two rooms with a lamp each, and devices without a room.
  private static func registry() -> HomeRegistry {
    var state = HomeState()
    for room in ["Kitchen", "Bedroom"] {
      state.apply(.roomAdded(Room(id: room, name: room, structureID: "home")))
    }
    for (node, name, room) in [
      (1, "Ceiling", "Kitchen"), (2, "Lamp", "Kitchen"), (3, "Lamp", "Bedroom"), (4, "Desk v2.0", nil), (77, "5", nil),
    ] as [(UInt64, String, String?)] {
      let source = SourceID(NodeID(node))
      state.apply(.deviceAdded(id: "\(source)", name: name, roomID: room, structureID: "home"))
      state.apply(.sourceAdded(source, device: "\(source)"))
    }
    return HomeRegistry(state)
  }

  private func address(_ last: UInt32) -> SocketAddress { SocketAddress(.v4(0x0A00_0000 + last), port: 5540) }

  @Test func resolvesNamesAndNodeIDs() throws {
    let book = try book(
      """
      # A comment
      kitchen/ceiling: 10.0.0.1:5540   # and another

        77 :   10.0.0.2:5540
      Desk v2.0: 10.0.0.3:5540
      99: 10.0.0.4:5540
      not yet paired: 10.0.0.5:5540
      discriminator 3840: 10.0.0.6:5540
      """)
    let registry = Self.registry()
    #expect(
      try book.addresses(in: registry) == [
        NodeID(1): address(1), NodeID(77): address(2), NodeID(4): address(3), NodeID(99): address(4),
      ])
  }

  @Test func rejectsAmbiguousName() throws {
    let book = try book("lamp: 10.0.0.1:5540")
    let registry = Self.registry()
    let error = #expect(throws: HomeError.self) { try book.addresses(in: registry) }
    #expect(error?.code == .ambiguousTarget)
  }

  @Test func resolvesDiscriminators() throws {
    let book = try book(
      "discriminator 3840: 10.0.0.1:5540\nDiscriminator 3841: 10.0.0.2:5540\ndiscriminator 5: 10.0.0.3:5540\n")
    #expect(book.addresses(of: .long(3841)) == [address(2)])
    #expect(book.addresses(of: .short(15)) == [address(1), address(2)])
    #expect(book.addresses(of: .long(6)).isEmpty)
  }

  /// A name of the interface needs the system's resolver, like the name of a host.
  @Test func resolvesLinkLocalAddresses() throws {
    let address = try HostAndPort.resolve("[fe80::1%lo]:5541")
    guard case .v6(let high, 1, let scope) = address.ip else { throw HomeError(.internalError, "\(address)") }
    #expect(high == 0xFE80 << 48 && scope == if_nametoindex("lo") && address.port == 5541)
  }

  @Test func readsAnyLineEndings() throws {
    #expect(try book("1: 10.0.0.1:5540 # one\r\n\r\n2: 10.0.0.2:5540\r\n").entries.map(\.key) == ["1", "2"])
    let error = #expect(throws: HomeError.self) { try book("# none\r\n2: nowhere:x\r\n") }
    #expect(error?.message.hasPrefix("book:2:4") ?? false, "\(error?.message ?? "")")
  }

  @Test(
    arguments: [
      ("lamp 10.0.0.1", "book:1:1"), ("\n\nlamp: nowhere", "book:3:7"), (": 10.0.0.1:1", "book:1:1"),
      ("a: 10.0.0.1:1\nA: 10.0.0.2:1", "book:2:1"), ("discriminator 4096: 10.0.0.1:1", "book:1:1"),
      ("discriminator x: 10.0.0.1:1", "book:1:1"),
    ])
  func reportsLineAndColumnOfSyntaxErrors(text: String, position: String) {
    let error = #expect(throws: HomeError.self) { try book(text) }
    #expect(error?.code == .badDefinition)
    #expect(error?.message.hasPrefix(position) ?? false, "\(error?.message ?? "")")
  }
}
