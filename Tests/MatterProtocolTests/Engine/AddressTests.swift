import MatterProtocol
import Testing

@Suite("Addresses") struct AddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("fe80::1%3", "fe80::1%3"), ("2001:DB8:0:0:1::2", "2001:db8::1:0:0:2"),
  ]) func parsesText(_ text: String, _ description: String) {
    #expect(IPAddress(text)?.description == description)
  }

  @Test(
    arguments: [
      "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "127.0.0.+1", "127.0.0.-0", ":::", "1::2::3", "12345::", "::+1", "::-0",
      "::1%+3",
    ]) func rejectsText(_ text: String)
  { #expect(IPAddress(text) == nil) }
}
