// Random schedules of a nest: named pieces that exist, in orders and with binds that the law may refuse.
#pragma once

#include <random>

#include "core/schedule/schedule.h"

namespace twinloom::tests {

schedule::Schedule random_schedule(const loops::Program& nest, std::mt19937_64& random);

}  // namespace twinloom::tests
