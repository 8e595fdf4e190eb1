/** Claims about the front door. */
package io.github.iree4j;
