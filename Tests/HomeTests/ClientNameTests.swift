import Testing

@testable import Home

/// Clients that were invited are found by their names in any case.
@Suite("Names of clients") struct ClientNameTests {
  @Test func caseDoesNotTellTwoClientsApart() throws {
    let place = try TestDatabase()
    let database = try place.open()
    _ = try database.invite("Änne", .guest, at: 1)
    _ = try database.invite("Ada", .guest, at: 1)
    for name in ["änne", "ÄNNE", "ada"] {
      let error = failure { () throws(HomeError) in _ = try database.invite(name, .member, at: 2) }
      #expect(error?.code == .badArguments, "\(name)")
    }
    #expect(try database.clients().map(\.name).sorted() == ["Ada", "Änne"])
    #expect(try database.revoke("äNNE").name == "Änne")
    #expect(try database.clients().map(\.name) == ["Ada"])
    _ = try database.invite("änne", .member, at: 3)
  }
}
