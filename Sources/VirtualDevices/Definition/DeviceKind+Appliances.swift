internal import MatterModel

extension DeviceKind {
  public static let laundryWasher = DeviceKind(
    name: "laundry washer", aliases: ["washing machine", "washer"], deviceType: 0x0073, productID: 0x8050,
    summary: "a washing machine with phases, modes, temperatures and spin speeds")
  public static let robotVacuum = DeviceKind(
    name: "robotic vacuum cleaner", aliases: ["robot vacuum", "vacuum", "vacuum cleaner", "RVC"], deviceType: 0x0074,
    productID: 0x8051, summary: "a robot that cleans areas, gets stuck, and returns to its charger")
  public static let dishwasher = DeviceKind(
    name: "dishwasher", aliases: ["dish washer"], deviceType: 0x0075, productID: 0x8052,
    summary: "a dishwasher with phases, modes, temperatures and alarms")
  public static let laundryDryer = DeviceKind(
    name: "laundry dryer", aliases: ["dryer", "tumble dryer"], deviceType: 0x007C, productID: 0x8053,
    summary: "a dryer with phases, modes, temperatures and dryness levels")

  public static let refrigerator = DeviceKind(
    name: "refrigerator", aliases: ["fridge"], deviceType: 0x0070, productID: 0x8054,
    summary: "a refrigerator with compartments and an alarm for open doors")
  public static let cooktop = DeviceKind(
    name: "cooktop", aliases: ["hob", "stove"], deviceType: 0x0078, productID: 0x8057,
    summary: "a cooktop with surfaces")
  public static let microwaveOven = DeviceKind(
    name: "microwave oven", aliases: ["microwave"], deviceType: 0x0079, productID: 0x8055,
    summary: "a microwave oven with a cook time and a power")
  public static let oven = DeviceKind(
    name: "oven", aliases: ["baking oven"], deviceType: 0x007B, productID: 0x8056,
    summary: "an oven with a cavity that heats, phases and modes")
}
