package io.github.iree4j.hal.spi;

import io.github.iree4j.api.NotForApplications;

/**
 * Patterns used by compiled programs to request a kind of device, such as {@code vulkan*}: {@code *} matches any text,
 * {@code ?} any character.
 */
@NotForApplications
public final class DevicePattern {
    private DevicePattern() {}

    /**
     * Returns whether a pattern matches a name. Takes time of at most the product of the lengths, for any pattern.
     *
     * @param pattern the pattern requested by a program
     * @param name a name of a device
     * @return true if the pattern matches
     */
    public static boolean matches(String pattern, String name) {
        int p = 0;
        int t = 0;
        int star = -1; // index of the last * seen
        int mark = 0; // end of the text matched by the star
        while (t < name.length()) {
            if (p < pattern.length() && pattern.charAt(p) == '*') {
                star = p++;
                mark = t;
            } else if (p < pattern.length() && (pattern.charAt(p) == '?' || pattern.charAt(p) == name.charAt(t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++mark;
            } else {
                return false;
            }
        }
        while (p < pattern.length() && pattern.charAt(p) == '*') {
            p++;
        }
        return p == pattern.length();
    }
}
