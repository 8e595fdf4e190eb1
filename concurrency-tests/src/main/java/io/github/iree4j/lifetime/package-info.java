/** Claims about reference counting. */
package io.github.iree4j.lifetime;
