// The one export macro: what KILN_API marks is visible in the shared library, all else is hidden.
#pragma once

#define KILN_API __attribute__((visibility("default")))
