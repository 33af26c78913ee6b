internal import MatterModel

// Devices that open and close.
extension DeviceKind {
  public static let doorLock = DeviceKind(
    name: "door lock", aliases: ["lock", "smart lock"], deviceType: 0x000A, productID: 0x8020,
    summary: "a motor lock with a keypad, an RFID reader, users and schedules, and a sensor at the door")
  public static let windowCovering = DeviceKind(
    name: "window covering",
    aliases: ["blind", "shade", "curtain", "roller shade", "shutter", "roller shutter", "awning", "cover"],
    deviceType: 0x0202, productID: 0x8028, summary: "a blind, shade or curtain that lifts, tilts or both")
  public static let waterValve = DeviceKind(
    name: "water valve", aliases: ["valve", "sprinkler valve"], deviceType: 0x0042, productID: 0x8029,
    summary: "a valve that opens to a level, and closes after a time")
  public static let pump = DeviceKind(
    name: "pump", aliases: ["circulation pump", "water pump"], deviceType: 0x0303, productID: 0x802A,
    summary: "a pump with control modes and a set point")

  public static let closure = DeviceKind(
    name: "closure", aliases: ["garage door"], deviceType: 0x0230, productID: 0x802B,
    summary: "a garage door, gate or awning with panels that move, and a latch")
}
