/** Health of devices and programs; plain classes, usable without auto-configuration. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.health;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
