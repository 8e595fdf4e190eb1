package io.github.iree4j.hal.stream;

/** Commands that a driver has recorded, ready to be submitted to a lane of their family. Only the driver looks inside. */
public interface DriverCommands {}
