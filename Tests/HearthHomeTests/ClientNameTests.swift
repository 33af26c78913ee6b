import HearthHome
import HomeModel
import Testing

/// Names of invited clients are case-insensitive.
@Suite("Client names") struct ClientNameTests {
  @Test func comparesNamesCaseInsensitively() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
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
