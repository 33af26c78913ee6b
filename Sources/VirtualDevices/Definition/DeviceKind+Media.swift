internal import MatterModel

// Controls without a light, and media devices.
extension DeviceKind {
  /// A generic switch with one button. Matter 1.4.2 has no device type of its own for it.
  public static let doorbell = DeviceKind(
    name: "doorbell", aliases: ["door bell", "bell push"], deviceType: 0x000F, productID: 0x8090,
    summary: "a button at a door that reports presses")
  public static let chime = DeviceKind(
    name: "chime", aliases: ["door chime", "gong"], deviceType: 0x0146, productID: 0x8096,
    summary: "a chime that plays one of several sounds")
  public static let modeSelect = DeviceKind(
    name: "mode select", aliases: ["mode selector", "selector"], deviceType: 0x0027, productID: 0x8091,
    summary: "a selector of one of several modes")
  public static let controlBridge = DeviceKind(
    name: "control bridge", aliases: ["light controller", "scene controller"], deviceType: 0x0840, productID: 0x8092,
    summary: "a controller that switches and dims the lights it is bound to")
  public static let onOffSensor = DeviceKind(
    name: "on/off sensor", aliases: ["detector switch"], deviceType: 0x0850, productID: 0x8093,
    summary: "a sensor that turns the devices it is bound to on and off")
  public static let speaker = DeviceKind(
    name: "speaker", aliases: ["loudspeaker"], deviceType: 0x0022, productID: 0x8094,
    summary: "a speaker with a volume that can be muted")
  public static let basicVideoPlayer = DeviceKind(
    name: "basic video player", aliases: ["video player", "TV", "television", "media player"], deviceType: 0x0028,
    productID: 0x8095, summary: "a television set with titles, channels, inputs and a speaker")

  /// Whether the device sends commands to the nodes that it is bound to when it is pressed.
  package var isBoundControl: Bool {
    [.onOffLightSwitch, .dimmerSwitch, .colorDimmerSwitch, .controlBridge, .onOffSensor].contains(self)
  }
}
