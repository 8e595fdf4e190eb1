package io.github.iree4j.hal.stream;

/** Commands that a driver has recorded, ready to be submitted to a lane of their family. Opaque to all but the driver. */
public interface DriverCommands {}
