/** How claims are run. */
package io.github.iree4j;
