extension Init.Kind {
  static let softwareDefinition = """
    # A provider of software images, and devices to update.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth acl grant updates operate --to '*' --cluster otaSoftwareUpdateProvider
    #   hearth invoke lamp.otaSoftwareUpdateRequestor.announceOTAProvider providerNodeID=1 vendorID=0xFFF1 \\
    #     announcementReason=UrgentUpdateAvailable endpoint=1        with the node id of Updates

    home: My software

    devices:
      - name: Lamp
        type: dimmable light

      - name: Updates
        type: OTA provider
        images:
          - { version: 2, type: dimmable light }
          # Only for devices with version 2; the payload has 40,000 bytes.
          - { version: 3, text: 3.0 beta, type: dimmable light, from: 2, to: 2, size: 40000 }

    """
}
