import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension Lab {
  fileprivate mutating func write<C, Value>(
    _ attribute: Attribute<C, Value>, _ value: Value, on session: SessionID
  ) throws -> StatusCode {
    try write([AttributeWrite(attribute.path(on: 0), value: value.tlv)], on: session)[0].code
  }
}

@Test func acceptsOnlySupportedFormats() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let locales = try lab.read(LocalizationConfiguration.supportedLocales, on: session)
  for locale in locales {
    #expect(try lab.write(LocalizationConfiguration.activeLocale, locale, on: session) == .success)
  }
  #expect(try lab.write(LocalizationConfiguration.activeLocale, "tlh-QO", on: session) == .constraintError)

  #expect(try lab.write(TimeFormatLocalization.hourFormat, .hours12, on: session) == .success)
  #expect(try lab.write(TimeFormatLocalization.hourFormat, .init(5), on: session) == .constraintError)
  let calendars = try lab.read(TimeFormatLocalization.supportedCalendarTypes, on: session)
  for raw in Array(UInt8(0)...11) + [255, 50] {
    let calendar = TimeFormatLocalization.CalendarType(raw)
    let status = try lab.write(TimeFormatLocalization.activeCalendarType, calendar, on: session)
    #expect(status == (calendars.contains(calendar) ? .success : .constraintError), "\(raw)")
  }
  #expect(try lab.write(UnitLocalization.temperatureUnit, .fahrenheit, on: session) == .success)
  #expect(try lab.write(UnitLocalization.temperatureUnit, .kelvin, on: session) == .constraintError)
  lab.crash()
  #expect(lab.device.value(UnitLocalization.temperatureUnit, on: 0) == .fahrenheit)
}

@Test func rejectsLongUserLabels() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let (short, long) = (String(repeating: "x", count: 16), String(repeating: "x", count: 17))
  let label = LabelStruct(label: short, value: short)
  #expect(try lab.write(UserLabel.labelList, [label], on: session) == .success)
  #expect(try lab.write(UserLabel.labelList, [LabelStruct(label: long, value: "")], on: session) == .constraintError)
  #expect(try lab.write(UserLabel.labelList, [LabelStruct(label: "", value: long)], on: session) == .constraintError)
  let many = [LabelStruct](repeating: label, count: UserLabelServer.limit + 1)
  #expect(try lab.write(UserLabel.labelList, many, on: session) == .resourceExhausted)
  lab.crash()
  #expect(lab.device.value(UserLabel.labelList, on: 0) == [label])
  #expect(lab.device.value(FixedLabel.labelList, on: 0) == [.init(label: "room", value: "Hall")])
}

@Test func omitsFixedLabelWithoutLabels() throws {
  var lab = try Lab { $0.fixedLabels = [] }
  #expect(lab.device.value(FixedLabel.labelList, on: 0) == nil)
  let servers = lab.device.value(Descriptor.serverList, on: 0) ?? []
  #expect(!servers.contains(FixedLabel.id) && servers.contains(UserLabel.id))
}
