package io.github.iree4j.hal.spi;

/** Patterns by which compiled programs ask for a kind of device, such as {@code vulkan*}: {@code *} is any text, {@code ?} any character. */
public final class DevicePattern {
    private DevicePattern() {}

    /**
     * Returns whether a pattern fits a name. Takes at most the product of the lengths, whatever the pattern.
     *
     * @param pattern what a program asks for
     * @param name what a device may be called
     * @return true if it does
     */
    public static boolean matches(String pattern, String name) {
        int p = 0;
        int t = 0;
        int star = -1; // the last * seen
        int mark = 0; // what it stands for ends here
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
