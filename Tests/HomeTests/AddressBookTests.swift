import MatterModel
import MatterProtocol
import Testing

@testable import Home

@Suite("Address book") struct AddressBookTests {
  private func book(_ text: String) throws(HomeError) -> AddressBook {
    try AddressBook(parsing: text, name: "book") { (text: String) throws(HomeError) in
      let parts = text.split(separator: ":")
      guard parts.count == 2, let ip = IPAddress(String(parts[0])), let port = UInt16(parts[1]) else {
        throw HomeError(.badArguments, "“\(text)” is no address")
      }
      return SocketAddress(ip, port: port)
    }
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
    let registry = try Samples.registry()
    #expect(
      try book.addresses(in: registry) == [
        NodeID(1): address(1), NodeID(77): address(2), NodeID(4): address(3), NodeID(99): address(4),
      ])
  }

  @Test func rejectsAmbiguousName() throws {
    let book = try book("lamp: 10.0.0.1:5540")
    let registry = try Samples.registry()
    #expect(failure { () throws(HomeError) in _ = try book.addresses(in: registry) }?.code == .ambiguousTarget)
  }

  @Test func resolvesDiscriminators() throws {
    let book = try book(
      "discriminator 3840: 10.0.0.1:5540\nDiscriminator 3841: 10.0.0.2:5540\ndiscriminator 5: 10.0.0.3:5540\n")
    #expect(book.addresses(of: .long(3841)) == [address(2)])
    #expect(book.addresses(of: .short(15)) == [address(1), address(2)])
    #expect(book.addresses(of: .long(6)).isEmpty)
  }

  @Test(
    arguments: [
      ("lamp 10.0.0.1", "book:1:1"), ("\n\nlamp: nowhere", "book:3:7"), (": 10.0.0.1:1", "book:1:1"),
      ("a: 10.0.0.1:1\nA: 10.0.0.2:1", "book:2:1"), ("discriminator 4096: 10.0.0.1:1", "book:1:1"),
      ("discriminator x: 10.0.0.1:1", "book:1:1"),
    ])
  func reportsLineAndColumnOfSyntaxErrors(text: String, position: String) {
    let error = failure { () throws(HomeError) in _ = try book(text) }
    #expect(error?.code == .badDefinition)
    #expect(error?.message.hasPrefix(position) ?? false, "\(error?.message ?? "")")
  }
}
