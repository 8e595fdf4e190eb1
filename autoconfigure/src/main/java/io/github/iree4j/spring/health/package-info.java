/** Health of devices and programs; plain classes, usable without auto-configuration. */
@NullMarked
package io.github.iree4j.spring.health;

import org.jspecify.annotations.NullMarked;
